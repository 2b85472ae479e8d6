"""Which projects the library knows: the folders of `knowledge/projects/` and the identities they list.

Read straight from the project READMEs' front matter, a few lines each, so that a hook can use it with no
daemon and no catalog.
"""

from __future__ import annotations

import json
import os

from ultan.wire.files import read_limited
from ultan.wire.home import Home
from ultan.wire.project import default_name, same_project, slugify

_LIMIT = 64 * 1024


def listed(home: Home) -> dict[str, list[str]]:
    """slug -> the identities its README lists (empty for a folder without any)."""
    base = os.path.join(home.knowledge, "projects")
    try:
        names = sorted(os.listdir(base))
    except OSError:
        return {}
    found = {}
    for name in names:
        folder = os.path.join(base, name)
        if not name.startswith(".") and os.path.isdir(folder) and not os.path.islink(folder):
            found[name] = identities_in(_header(os.path.join(folder, "README.md")))
    return found


def slug_for(known: dict[str, list[str]], mine: list[str]) -> str | None:
    """The slug of the project with these identities; a folder without identities goes by its name, in any
    case."""
    for slug, theirs in known.items():
        if same_project(theirs, mine):
            return slug
    name = default_name(mine)
    if name in known:
        return None if known[name] else name
    return next((slug for slug, theirs in known.items() if slug.lower() == name and not theirs), None)


def by_name(home: Home, mine: list[str]) -> str | None:
    """The slug that is this project's name, where the library has such a folder and it lists no identities.

    A folder that lists some belongs to another project of the same name. Reads one file at most.
    """
    name = default_name(mine)
    folder = os.path.join(home.knowledge, "projects", name)
    if not name or not os.path.isdir(folder):
        return None
    return None if identities_in(_header(os.path.join(folder, "README.md"))) else name


def new_slug(known: dict[str, list[str]], mine: list[str]) -> str:
    """A free slug for a project that the library does not know yet."""
    name = slugify(default_name(mine)) or "project"
    taken = {other.lower() for other in known}
    slug, number = name, 1
    while slug in taken:
        number += 1
        slug = "%s-%d" % (name, number)
    return slug


def identities_in(header: str) -> list[str]:
    """The values of `identities:` in a front matter: a list in brackets, or one `- item` a line."""
    lines = header.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("identities:"):
            rest = line[len("identities:") :].strip()
            if rest.startswith("["):
                inner = rest.strip("[]")
                return [_unquoted(part) for part in inner.split(",") if part.strip()]
            items = []
            for below in lines[number + 1 :]:
                if not below.lstrip().startswith("- "):
                    break
                items.append(_unquoted(below.lstrip()[2:]))
            return items if items or not rest else [_unquoted(rest)]
    return []


def readme(slug: str, mine: list[str]) -> str:
    """The README of a new project, which lists its identities."""
    from ultan.wire import render

    return render.entry([("title", slug), ("identities", list(mine))], "# %s\n" % slug)


def _header(path: str) -> str:
    try:
        text = read_limited(path, _LIMIT).decode("utf-8-sig", "replace")
    except OSError:
        return ""
    if not text.startswith("---"):
        return ""
    return text[3:].split("\n---", 1)[0]


def _unquoted(text: str) -> str:
    text = text.strip()
    if text[:1] == '"':
        try:
            return str(json.loads(text))
        except ValueError:
            pass
    return text.strip("\"'")
