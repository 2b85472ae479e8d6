"""A catalog made by the hook, for a home that has none yet or whose catalog is older than the last note.

Only for small libraries and within a time limit; the daemon makes the proper one. A header is read only
where it is plain beyond doubt (`key: value`, `[a, b]`, `- item`); anything else leaves the entry out until
the daemon has read it. Standard library only.
"""

from __future__ import annotations

import json
import os
import re
import time

from ultan.wire.files import read_limited, write_atomic
from ultan.wire.format import check_writable
from ultan.wire.home import Home
from ultan.wire.projects import listed
from ultan.wire.runtime import daemon_holds_lock

MOST_FILES = 400
SECONDS = 0.6
_FILE_LIMIT = 256 * 1024
_EXCERPT = 280
_LEFT_OUT = frozenset(("README.md", "index.md", "log.md"))
_KEY = re.compile(r"([A-Za-z_][\w-]*):(?:[ ](.*))?\Z")
# What YAML would take for something else than text, at the start of a value or inside it.
_NOT_PLAIN = re.compile(r"[*&!|>%@`{}\[\],#?]|-(?: |\Z)|(?:=|<<|~)?\Z")
_FLOW_MAPPING = re.compile(r"\{(?:\s*\w+: [\w.-]+(?:,|(?=\s*\})))*\s*\}")
_TYPES = frozenset("convention preference finding warning abstraction reference".split())


def refresh(home: Home) -> bool:
    """Make `catalog.json` where it is missing or older than the journal's last batch; whether it was made.

    Leaves everything as it is where the library is too large or takes too long. Raises ForeignHome, OSError.
    """
    if not is_stale(home):
        return False
    if os.path.exists(home.catalog) and daemon_holds_lock(home):
        return False  # it will make a better one
    check_writable(home)
    found = rows(home.knowledge, time.monotonic() + SECONDS)
    if found is None:
        return False
    from ultan.wire.lexical import build_catalog

    projects: dict[str, str] = {}
    for slug, identities in listed(home).items():
        for identity in identities or ["name:" + slug]:
            projects.setdefault(identity, slug)
    write_atomic(home.catalog, build_catalog(found, projects))
    return True


def is_stale(home: Home) -> bool:
    """Whether there is no catalog, an empty or broken one, or one from before the journal's last change."""
    from ultan.wire.lexical import Catalog

    try:
        made = os.stat(home.catalog).st_mtime
    except OSError:
        return True
    if not len(Catalog.open(home.catalog)):
        return True
    try:
        return os.stat(home.journal).st_mtime > made
    except OSError:
        return False


def rows(knowledge: str, until: float) -> list[dict[str, object]] | None:
    """The entries as `build_catalog` takes them; None where they are too many or time (`until`) runs out."""
    found: list[dict[str, object]] = []
    folders = [""]
    count = 0
    while folders:
        folder = folders.pop()
        try:
            items = list(os.scandir(os.path.join(knowledge, folder)))
        except OSError:
            continue
        for item in items:
            path = folder + "/" + item.name if folder else item.name
            if item.name.startswith((".", "_archive")) or item.is_symlink():
                continue
            if item.is_dir():
                folders.append(path)
            elif item.name.endswith(".md") and item.name not in _LEFT_OUT:
                count += 1
                if count > MOST_FILES or time.monotonic() > until:
                    return None
                row = entry(path, os.path.join(knowledge, path))
                if row is not None:
                    found.append(row)
    return found


def entry(path: str, place: str) -> dict[str, object] | None:
    """The row of one file; None where it cannot be read for sure."""
    try:
        text = read_limited(place, _FILE_LIMIT).decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, ValueError):
        return None
    parts = path[:-3].split("/")
    values: dict[str, object] = {}
    body = text
    if text.startswith("---\n"):
        head, mark, body = (text[4:] + "\n").partition("\n---\n")
        if not mark:
            return None
        read = header(head)
        if read is None:
            return None
        values = read
    if not text.strip() or "<<<<<<<" in text:
        return None
    given = values.get("title")
    title = " ".join(given.split()) if isinstance(given, str) else ""
    title = title or _heading(body) or _name_title(parts[-1])
    kind = str(values.get("type") or "reference")
    tags = values.get("tags")
    return {
        "id": "/".join(parts),
        "title": title,
        "type": kind if kind in _TYPES else "warning" if kind == "warn" else "reference",
        "scope": "project:" + parts[1] if parts[0] == "projects" and len(parts) > 2 else "global",
        "status": str(values.get("status") or "active"),
        "updated": str(values.get("updated") or ""),
        "applies_when": str(values.get("applies_when") or ""),
        "tags": tags if isinstance(tags, list) else [],
        "body": body,
        "excerpt": _excerpt(body, str(title)),
    }


def header(text: str) -> dict[str, object] | None:
    """The keys of a front matter that is plain beyond doubt, else None."""
    values: dict[str, object] = {}
    last = ""
    for line in text.split("\n"):
        if not line.strip() or line.startswith("#"):
            continue
        if "\t" in line:
            return None
        if line.startswith((" ", "- ")) and last:
            if line.lstrip().startswith("- ") and isinstance(values[last], list):
                item = _scalar(line.lstrip()[2:])
                if item is None:
                    return None
                values[last].append(item)  # type: ignore[attr-defined]  # it is a list, as was just asked
                continue
            return None
        match = _KEY.match(line)
        if match is None or match.group(1) in values:
            return None
        last, raw = match.group(1), (match.group(2) or "").strip()
        value: object = [] if not raw else _list(raw) if raw[0] in "[{" else _scalar(raw)
        if value is None:
            return None
        values[last] = value
    return {key: "" if value == [] and key != "tags" else value for key, value in values.items()}


def _list(raw: str) -> object:
    """A flow list of plain items; a plain flow mapping is taken as there, its content is not needed."""
    if raw[0] == "{":
        return "" if _FLOW_MAPPING.fullmatch(raw) else None
    if not raw.endswith("]") or "[" in raw[1:] or raw[1:-1].strip().startswith(",") or ",," in raw:
        return None
    items = [_scalar(part.strip()) for part in raw[1:-1].split(",") if part.strip()]
    return None if None in items else items


def _scalar(raw: str) -> str | None:
    """A plain or quoted text, None where YAML might see something else."""
    if raw[:1] == '"':
        try:
            text = json.loads(raw)
        except ValueError:
            return None
        return text if isinstance(text, str) else None
    if raw[:1] == "'":
        inner = raw[1:-1]
        whole = len(raw) > 1 and raw[-1] == "'" and "'" not in inner.replace("''", "")
        return inner.replace("''", "'") if whole else None
    if _NOT_PLAIN.match(raw) or ": " in raw or raw.endswith(":") or " #" in raw:
        return None
    return raw


def _name_title(name: str) -> str:
    words = " ".join(name.replace("_", "-").replace("-", " ").split())
    return words[:1].upper() + words[1:]


def _heading(body: str) -> str:
    for line in body.splitlines():
        if line.startswith("#"):
            return line.lstrip("#").strip()
    return ""


def _excerpt(body: str, title: str) -> str:
    """The first paragraphs of prose on one line; code where there is nothing else."""
    prose: list[str] = []
    fenced = False
    for line in body.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and not line.startswith("#") and line.strip() and line.strip() != title:
            prose.append(line.strip())
    text = " ".join(" ".join(prose).split()) or " ".join(body.split())
    return text[:_EXCERPT]
