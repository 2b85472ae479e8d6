"""Whether the models that config.toml names can be loaded, and what is lost where one cannot.

They are loaded as the daemon loads them, but never downloaded.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ultan.library import config
from ultan.library.config import Models
from ultan.library.errors import ConfigError
from ultan.service.checks.finding import INSTALL, Finding
from ultan.wire.home import Home


@dataclass(frozen=True, slots=True)
class Part:
    """One of the three models. load(settings) gives its id or raises ModelUnavailable; hub: whether the
    settings mean one of the hub; lost: what is so without it.
    """

    what: str
    load: Callable[[Models], str]
    hub: bool
    level: str
    lost: str


def check(home: Home) -> Iterator[Finding]:
    """A finding for each model, and one for the gate."""
    try:
        settings = config.load(home).models
    except ConfigError:  # which the check of the capture tells
        settings = Models()
    try:
        from ultan.retrieval.models import ModelUnavailable
    except ImportError as error:
        yield Finding("models", "error", f"a package is missing: {error.name}", INSTALL)
        return
    for part in parts(settings):
        try:
            id = part.load(settings)
        except ModelUnavailable as error:
            message = f"the {part.what} {error.model} cannot be used: {error.reason}; {part.lost}"
            yield Finding("models", part.level, message, way_out(part.hub, home))
            continue
        yield Finding("models", "ok", f"{part.what} {id}, {'of the hub' if part.hub else 'as packaged'}")
        if part.what == "embedder":
            yield from gate(id, home)


def parts(settings: Models) -> tuple[Part, ...]:
    """The models that the settings mean, in the order in which they matter."""
    hub = settings.backend == "hub" or settings.embedder is not None
    return (
        Part("embedder", _embedder, hub, "error", "entries are found by their words alone"),
        Part("token encoder", _encoder, False, "warning", "searches are ordered without token vectors"),
        Part(
            "cross-encoder",
            _reranker,
            settings.reranker is not None,
            "warning",
            "searches are ordered without one",
        ),
    )


def gate(embedder: str, home: Home) -> Iterator[Finding]:
    """A note where the gate was not fitted for an embedder (its id), or the person's own cannot be used."""
    from ultan.retrieval.own_gate import of_home

    found, unused = of_home(home, embedder)
    if unused:
        yield Finding("models", "warning", unused, f"ultan eval fit-gate --help, or delete {home.gate}")
    if found.full is None:
        message = (
            f"the gate was not fitted for {embedder.partition('/')[0]}: the words alone decide what is shown "
            "with a prompt; searches use its vectors"
        )
        yield Finding("models", "note", message, "fit it on labelled prompts: ultan eval fit-gate --help")


def way_out(hub: bool, home: Home) -> str:
    """What to do about a model that cannot be loaded. hub: whether it is one of the hub."""
    if not hub:
        return INSTALL
    if importlib.util.find_spec("sentence_transformers") is None:
        return f"{INSTALL} --with hub; or take it out of [models] in {home.config}"
    return f"with the hub within reach, ultan daemon start downloads it; or name another in {home.config}"


def _embedder(settings: Models) -> str:
    from ultan.retrieval.backends import load_embedder

    return load_embedder(settings, fetch=False).id


def _encoder(settings: Models) -> str:
    from ultan.retrieval.backends import load_encoder

    return load_encoder(settings, fetch=False).id


def _reranker(settings: Models) -> str:
    from ultan.retrieval.backends import load_reranker

    found = load_reranker(settings, fetch=False)
    found.ready()
    return found.id
