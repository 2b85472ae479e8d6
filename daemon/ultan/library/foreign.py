"""Telling a page from what sync tools and merges leave behind."""

from __future__ import annotations

import re

# Dropbox, Nextcloud, Obsidian Sync: "x (conflicted copy 2026-01-02).md", "x (Ann's conflicted copy ...).md";
# Syncthing: "x.sync-conflict-20260102-030405-ABCDEF.md"; Resilio: "x.Conflict.md".
_CONFLICT = re.compile(
    r"\([^()]*\b(?:conflicted copy|case conflict|conflict copy)\b[^()]*\)|\.sync-conflict-\d|\.conflict\.md$",
    re.IGNORECASE,
)
# iCloud, Finder, browsers: "x 2.md", "x (1).md". Also what a person may call a second chapter.
_NUMBERED = re.compile(r"^(?P<stem>.+?)(?: \d{1,2}| \(\d{1,2}\))\.md$")


def conflict_copy(name: str) -> bool:
    """Whether a file name says that a sync tool kept it beside the real one."""
    return "onflict" in name.lower() and _CONFLICT.search(name) is not None


def numbered_original(path: str) -> str | None:
    """For `folder/x 2.md` or `folder/x (1).md` the path of `folder/x.md`, else None.

    Alone it proves nothing: such a file is a copy only if it also holds the original's id or bytes.
    """
    folder, slash, name = path.rpartition("/")
    found = _NUMBERED.match(name) if name[-4:-3].isdigit() or name[-4:-3] == ")" else None
    return f"{folder}{slash}{found.group('stem')}.md" if found else None


def merge_marker_line(text: str) -> int | None:
    """The line (from 1) on which an unresolved merge begins, or None.

    All three marks must stand in order at line starts outside a code fence: a page about merges is a page.
    """
    if "<<<<<<< " not in text:
        return None
    begun, middle, fence = 0, False, ""
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.lstrip()
        if fence:
            if bare.startswith(fence) and not bare.strip(fence[0]).strip():
                fence = ""
        elif bare.startswith(("```", "~~~")) and not begun:
            fence = bare[: len(bare) - len(bare.lstrip(bare[0]))]
        elif line.startswith("<<<<<<< "):
            begun, middle = number, False
        elif begun and line.rstrip() == "=======":
            middle = True
        elif middle and line.startswith(">>>>>>> "):
            return begun
    return None
