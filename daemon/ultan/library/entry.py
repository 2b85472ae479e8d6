"""One page of the library: what its header means. The only definition of an entry's fields.

Everything absent has a default; a value of the wrong type gets the default and a problem, never an
exception. A file whose header or encoding cannot be read is kept as it is: `readable` is False.
"""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ultan.library import header as front
from ultan.library.edit import edit, render_new, replace_body, set_field, set_fields
from ultan.library.fields import Problem, Reader, Trigger

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "Entry",
    "Problem",
    "Trigger",
    "body_hash",
    "edit",
    "id_of",
    "parse",
    "render_new",
    "replace_body",
    "scope_of",
    "set_field",
    "set_fields",
]

TYPES = ("convention", "preference", "finding", "warning", "abstraction", "reference")
TYPE_ALIASES = {"warn": "warning"}
STATUSES = ("active", "deprecated", "stale")
SEVERITIES = ("advise", "block")
DEFAULT_TYPE = "reference"
DEFAULT_STRENGTH = 0.5
BODY_LIMIT = 1 << 20


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry as the rest of the program sees it.

    `path` is relative to knowledge/, `body` has `\\n` line ends and begins in line `body_line` of the file,
    dates are as written (`YYYY-MM-DD...`) or "" when unknown, `content_hash` is the SHA-256 of the file.
    """

    id: str
    path: str
    title: str
    content_hash: str
    type: str = DEFAULT_TYPE
    scope: str = "global"
    status: str = "active"
    applies_when: str = ""
    tags: tuple[str, ...] = ()
    created: str = ""
    updated: str = ""
    encoding_strength: float = DEFAULT_STRENGTH
    reinforced: int = 0
    last_reinforced: str = ""
    fired_helpful: int = 0
    pinned: bool = False
    requires_approval: bool = False
    source: Mapping[str, str] = field(default_factory=dict)
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    block_triggers: tuple[Trigger, ...] = ()
    severity: str = "advise"
    curated: str = ""
    body: str = ""
    body_line: int = 1
    declared_id: str = ""
    problems: tuple[Problem, ...] = ()
    readable: bool = True
    editable: bool = True

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]

    @property
    def name(self) -> str:
        return self.id.rpartition("/")[2]

    @property
    def hand_edited(self) -> bool:
        """Whether the body is not the one that the curator wrote (also true where it never wrote one)."""
        return self.curated != body_hash(self.body)

    @property
    def primable(self) -> bool:
        """Whether the entry may be shown unasked at all."""
        return self.readable and self.status == "active"


def id_of(path: str) -> str:
    """The id that a path gives: without `.md`, in composed Unicode."""
    id = path[:-3] if path.endswith(".md") else path
    return id if id.isascii() else unicodedata.normalize("NFC", id)


def scope_of(path: str) -> str:
    """The scope that a path gives: `project:<slug>` below projects/<slug>/, else `global`."""
    parts = path.split("/")
    return f"project:{parts[1]}" if parts[0] == "projects" and len(parts) > 2 else "global"


def body_hash(body: str) -> str:
    """The value of `curated`: a hash that line ends and blanks at the ends of lines do not change."""
    text = "\n".join(line.rstrip() for line in body.strip().splitlines())
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def parse(path: str, raw: bytes) -> Entry:
    """The entry in the file `path` (relative to knowledge/) with the bytes `raw`. Never raises."""
    digest = hashlib.sha256(raw).hexdigest()
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return _undecodable(path, raw, digest)
    if not text.strip(front.BOM + " \t\r\n\0"):
        problem = Problem(
            path, 1, "empty-file", "the file is empty", "write a title and a body, or delete it"
        )
        return _unreadable(path, "", 1, digest, problem)
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        problem = Problem(path, line, "not-text", "the file holds NUL bytes", "save it as UTF-8 text")
        return _unreadable(path, text.replace("\0", " "), 1, digest, problem)
    try:
        parts = front.split(text)
    except front.HeaderError as error:
        after = text.partition("\n")[2]
        return _unreadable(path, after, 2, digest, _problem(path, error), title=_loose_title(after))
    body = text[parts.body :]
    if "\r" in body:
        body = body.replace("\r\n", "\n").replace("\r", "\n")
    if not parts.has_header:
        return _without_header(path, body, parts.body_line, digest)
    try:
        items = front.read(parts.header)
    except front.HeaderError as error:
        title = _loose_title(parts.header)
        return _unreadable(path, body, parts.body_line, digest, _problem(path, error), title=title)
    return _from_items(path, items, body, parts.body_line, digest)


def _from_items(path: str, items: dict[str, front.Item], body: str, body_line: int, digest: str) -> Entry:
    get = Reader(path, items)
    id, scope = id_of(path), scope_of(path)
    declared_id = get.text("id")
    if declared_id and declared_id != id:
        get.note("id", "id-differs", f"id is {declared_id!r}, the path says {id!r}", f"write `id: {id}`")
    declared_scope = get.text("scope")
    if declared_scope and declared_scope != scope:
        get.note(
            "scope",
            "scope-differs",
            f"scope is {declared_scope!r}, the path says {scope!r}",
            f"write `scope: {scope}`, or move the file",
        )
    severity = get.choice("severity", SEVERITIES, {}, "advise")
    if get.repeated("severity"):
        severity = "advise"  # of two severities nobody can say which was meant: the one that stops nothing
    return Entry(
        id=id,
        path=path,
        title=get.title() or _heading(body) or _name_title(path),
        content_hash=digest,
        type=get.choice("type", TYPES, TYPE_ALIASES, DEFAULT_TYPE),
        scope=scope,
        status=get.choice("status", STATUSES, {}, "active"),
        applies_when=" ".join(get.text("applies_when").split()),
        tags=get.tags(),
        created=get.date("created"),
        updated=get.date("updated"),
        encoding_strength=get.fraction("encoding_strength", DEFAULT_STRENGTH),
        reinforced=get.count("reinforced"),
        last_reinforced=get.date("last_reinforced"),
        fired_helpful=get.count("fired_helpful"),
        pinned=get.flag("pinned"),
        requires_approval=get.flag("requires_approval"),
        source=get.source(),
        supersedes=get.ids("supersedes"),
        superseded_by=get.ids("superseded_by"),
        block_triggers=get.triggers(),
        severity=severity,
        curated=get.text("curated"),
        body=body,
        body_line=body_line,
        declared_id=declared_id,
        problems=tuple(get.problems),
        editable=not get.any_repeated,
    )


def _without_header(path: str, body: str, body_line: int, digest: str) -> Entry:
    return Entry(
        id=id_of(path),
        path=path,
        title=_heading(body) or _name_title(path),
        content_hash=digest,
        scope=scope_of(path),
        body=body,
        body_line=body_line,
    )


def _unreadable(path: str, body: str, line: int, digest: str, problem: Problem, title: str = "") -> Entry:
    return Entry(
        id=id_of(path),
        path=path,
        title=title or _heading(body) or _name_title(path),
        content_hash=digest,
        scope=scope_of(path),
        body=body.replace("\r\n", "\n"),
        body_line=line,
        problems=(problem,),
        readable=False,
        editable=False,
    )


def _undecodable(path: str, raw: bytes, digest: str) -> Entry:
    """A file in another encoding: its words can be searched, its bytes are nobody's to change."""
    encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "cp1252"
    text = raw.decode(encoding, "replace")
    line = 1
    if encoding == "cp1252":
        for number, part in enumerate(raw.split(b"\n"), 1):
            try:
                part.decode("utf-8")
            except UnicodeDecodeError:
                line = number
                break
    problem = Problem(path, line, "not-utf8", "the file is not UTF-8", "save it as UTF-8 in your editor")
    title = ""
    try:
        parts = front.split(text)
        title = _loose_title(parts.header) if parts.has_header else ""
        body, first = text[parts.body :], parts.body_line
    except front.HeaderError:
        body, first = text, 1
    return _unreadable(path, body, first, digest, problem, title=title)


def _problem(path: str, error: front.HeaderError) -> Problem:
    return Problem(path, error.line, error.code, error.message, error.fix)


def _loose_title(header: str) -> str:
    """The title of a header that cannot be read as a whole, for display alone."""
    for line in header.splitlines():
        if line.startswith("title:"):
            return " ".join(line[6:].strip().strip("\"'").split())
    return ""


def _heading(body: str) -> str:
    """The first heading, if text or nothing stands before it; code fences are skipped."""
    fence = ""
    for line in body.splitlines():
        bare = line.strip()
        if bare.startswith(("```", "~~~")):
            fence = "" if fence and bare.startswith(fence) else fence or bare[:3]
        elif not fence and bare.startswith("#"):
            marks = len(bare) - len(bare.lstrip("#"))
            title = bare[marks:].strip().rstrip("#").strip()
            if marks <= 6 and title and bare[marks : marks + 1].isspace():
                return " ".join(title.split())
    return ""


def _name_title(path: str) -> str:
    name = id_of(path).rpartition("/")[2]
    words = name.replace("-", " ").replace("_", " ").strip()
    return words[:1].upper() + words[1:] if words else name
