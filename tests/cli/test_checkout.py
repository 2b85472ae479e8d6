"""`ultan test` and `ultan bench` in a checkout of a test's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ultan.cli.checkout import spread
from ultan.cli.main import main


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small checkout with one test that passes, one that fails, and one benchmark."""
    files = {
        "hooks/run": "",
        "tests/test_one.py": "def test_good(): pass\ndef test_bad(): assert False\n",
        "tools/bench/waiting.py": '"""How long one waits.\n\nMore."""\nimport sys\n'
        'if __name__ == "__main__":\n    print("{}" if "--json" in sys.argv else "long")\n'
        "    sys.exit(len(sys.argv) - 1)\n",
        "tools/bench/helper.py": '"""No benchmark."""\n',
        "tools/bench/stand_in.py": '"""No benchmark either."""\nif __name__ == "__main__":\n    pass\n',
    }
    for name, text in files.items():
        path = tmp_path / "checkout" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setenv("ULTAN_ROOT", str(tmp_path / "checkout"))
    return tmp_path / "checkout"


def test_the_exit_code_and_the_words_are_those_of_pytest(ultan: Any, root: Path) -> None:
    good = ultan("test", "--json", "-n", "0", "-k", "good")
    assert (good.code, good.value["ok"]) == (0, True)
    assert "1 passed" in good.value["summary"]
    bad = ultan("test", "--json", "-n0")
    assert (bad.code, bad.value["exit_code"]) == (1, 1)
    assert "1 failed, 1 passed" in bad.value["summary"]


def test_two_processes_share_the_tests_unless_decided_otherwise() -> None:
    assert spread(("tests/wire",)) == ["-n", "2"]
    assert spread(("-n4",)) == spread(("--pdb",)) == spread(("-n", "0")) == []


def test_bench_lists_what_can_be_run_with_its_first_line(ultan: Any, root: Path) -> None:
    assert ultan("bench", "--json").value == {"benchmarks": {"waiting": "How long one waits."}}
    assert ultan("bench").out == "waiting\tHow long one waits.\n"


def test_bench_passes_arguments_on_and_the_exit_code_back(
    root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "waiting", "--prompts", "7"]) == 2
    assert main(["bench", "waiting", "--json"]) == 1
    assert main(["bench", "--json", "waiting"]) == 1
    assert capfd.readouterr().out == "long\n{}\n{}\n"


def test_an_unknown_benchmark_is_a_usage_error_that_names_the_known(ultan: Any, root: Path) -> None:
    ran = ultan("bench", "hurrying")
    assert ran.code == 2 and "waiting" in ran.err


@pytest.mark.parametrize("command", ["test", "bench", "demo"])
def test_an_installed_copy_says_that_it_is_no_checkout(
    ultan: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str
) -> None:
    monkeypatch.setenv("ULTAN_ROOT", str(tmp_path))
    ran = ultan(command)
    assert ran.code == 1 and "checkout" in ran.err
