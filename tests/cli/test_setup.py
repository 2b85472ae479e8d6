"""The launcher's command, started without the launcher."""

from __future__ import annotations

from typing import Any

import pytest
from ultan.service import setup
from ultan.service.installed import ProvisioningError


def test_what_is_asked_of_it_is_understood_as_the_launcher_does(ultan: Any) -> None:
    ran = ultan("setup", "--with", "everything")
    assert ran.code == 2 and "hub" in ran.err


def test_what_prevents_the_installation_is_told(ultan: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: object, **_named: object) -> None:
        raise ProvisioningError("the disk is full")

    monkeypatch.setattr(setup, "ensure", fail)
    ran = ultan("setup", "--json")
    assert ran.code == 1 and ran.value["error"]["what"] == "the disk is full"
