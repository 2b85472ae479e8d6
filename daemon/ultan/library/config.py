"""The settings: one validated model of config.toml, and what the hooks need of it."""

from __future__ import annotations

import difflib
import json
import tomllib
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, ValidationError

from ultan.library.errors import ConfigError
from ultan.wire.files import read_limited, write_atomic
from ultan.wire.home import Home

CONFIG_LIMIT = 1 << 20


def _switch(value: object) -> object:
    """TOML's true and false are taken for "on" and "off" too."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else value


Switch = Annotated[Literal["on", "off"], BeforeValidator(_switch)]


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Priming(Section):
    """What is shown with a prompt. `threshold` None: the calibrated one of the model in use."""

    max_entries: int = Field(default=3, ge=0, le=10)
    max_chars: int = Field(default=1500, ge=200, le=8000)
    threshold: float | None = Field(default=None, ge=0, le=1)
    deadline_ms: int = Field(default=800, ge=50, le=1500)


class Models(Section):
    """Which weights rank: models of the hub by name; None: the backend's own choice."""

    backend: Literal["embedded", "hub"] = "embedded"
    embedder: str | None = None
    reranker: str | None = None


class Budget(Section):
    """Caps of the curator's use of models; None: no cap of that kind."""

    calls_per_hour: int | None = Field(default=60, ge=0)
    calls_per_day: int | None = Field(default=400, ge=0)
    tokens_per_hour: int | None = Field(default=None, ge=0)
    tokens_per_day: int | None = Field(default=None, ge=0)
    usd_per_hour: float | None = Field(default=None, ge=0)
    usd_per_day: float | None = Field(default=None, ge=0)


class Service(Section):
    """The background process. idle_exit_minutes 0: it never ends by itself."""

    idle_exit_minutes: int = Field(default=240, ge=0)
    scan_seconds: int = Field(default=60, ge=1)


class Config(Section):
    """config.toml; every key has a default, an absent file means all of them."""

    daemon: Switch = "on"
    opt_in: bool = False
    opt_in_projects: tuple[str, ...] = Field(default=(), strict=False)
    ignored_projects: tuple[str, ...] = Field(default=(), strict=False)
    never_index_paths: tuple[str, ...] = Field(default=(), strict=False)
    autonomy: Literal["auto", "review"] = "auto"
    git_commit: bool = False
    auth: Literal["subscription", "env"] = "subscription"
    priming: Priming = Priming()
    models: Models = Models()
    budget: Budget = Budget()
    service: Service = Service()
    # The exact text it was read from; None where there is no file.
    _text: str | None = PrivateAttr(default=None)

    @property
    def text(self) -> str | None:
        return self._text


def load(home: Home) -> Config:
    """The settings of a home. Raises ConfigError naming the key and, if it looks mistyped, the nearest."""
    try:
        text = read_limited(home.config, CONFIG_LIMIT).decode("utf-8")
    except FileNotFoundError:
        return Config()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(home.config, "", f"it cannot be read ({error})") from None
    return parse(text, home.config)


def parse(text: str, path: str = "config.toml") -> Config:
    """The settings that `text` gives. Raises ConfigError."""
    try:
        values = tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(path, "", f"it is not valid TOML ({error})") from None
    try:
        config = Config.model_validate(values)
    except ValidationError as error:
        raise _first(error, path) from None
    config._text = text
    return config


def derive_hook_config(home: Home, config: Config) -> bool:
    """Write hook-config.json for `config`; whether it changed. The hooks trust it only while config.toml
    holds exactly the text that `config` was read from."""
    data = hook_config(config)
    try:
        if read_limited(home.hook_config, 2 * CONFIG_LIMIT) == data:
            return False
    except OSError:
        pass
    home.ensure()
    write_atomic(home.hook_config, data)
    return True


def hook_config(config: Config) -> bytes:
    """The bytes of hook-config.json for `config`."""
    values = {
        "v": 1,
        "config_text": config.text,
        "daemon": config.daemon,
        "auth": config.auth,
        "opt_in": config.opt_in,
        "opt_in_projects": list(config.opt_in_projects),
        "ignored_projects": list(config.ignored_projects),
        "never_index_paths": list(config.never_index_paths),
        "max_entries": config.priming.max_entries,
        "max_chars": config.priming.max_chars,
        "deadline_ms": config.priming.deadline_ms,
    }
    return (json.dumps(values, ensure_ascii=True, indent=1) + "\n").encode("ascii")


def _first(error: ValidationError, path: str) -> ConfigError:
    """The first mistake, an unknown key before all others: it is what explains the rest."""
    found = sorted(error.errors(include_url=False), key=lambda e: e["type"] != "extra_forbidden")[0]
    place = [str(part) for part in found["loc"]]
    key = ".".join(place)
    if found["type"] == "extra_forbidden":
        nearest = _nearest(place)
        return ConfigError(
            path, key, "there is no such setting", f"Did you mean {nearest}?" if nearest else ""
        )
    given = found.get("input")
    return ConfigError(path, key, f"{found['msg'][:1].lower()}{found['msg'][1:]}, not {given!r}")


def _nearest(place: list[str]) -> str:
    """The valid dotted key that a wrong one most looks like, in its own section first."""
    keys = _keys(Config)
    close = difflib.get_close_matches(".".join(place), keys, n=1, cutoff=0.7)
    if close:
        return close[0]
    last = {key.rpartition(".")[2]: key for key in reversed(keys)}
    close = difflib.get_close_matches(place[-1], last, n=1, cutoff=0.6)
    return last[close[0]] if close else ""


def _keys(model: type[BaseModel], prefix: str = "") -> list[str]:
    found: list[str] = []
    for name, info in model.model_fields.items():
        kind: Any = info.annotation
        found.append(prefix + name)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            found += _keys(kind, prefix + name + ".")
    return found
