"""What the person marked as private, and which projects and paths are not listened to."""

from __future__ import annotations

import fnmatch
import os
import re

PRIVATE_PROMPT = "#private"
_OPEN = re.compile(r"<private>", re.I)
_CLOSE = re.compile(r"</private>", re.I)


def is_private_prompt(prompt: str) -> bool:
    """Whether the whole prompt is marked: it starts with `#private` (as a word of its own)."""
    head = prompt.lstrip()[: len(PRIVATE_PROMPT) + 1].lower()
    return head.startswith(PRIVATE_PROMPT) and not head[len(PRIVATE_PROMPT) :].isalnum()


def strip_private(text: str) -> str:
    """`text` without its `<private>...</private>` parts; an unclosed part reaches to the end.

    Parts may nest: what lies inside an outer pair stays cut after an inner pair closes.
    """
    if "<private>" not in text.lower():
        return text
    kept: list[str] = []
    depth = 0
    at = 0
    marks = sorted(
        [(m.start(), m.end(), 1) for m in _OPEN.finditer(text)]
        + [(m.start(), m.end(), -1) for m in _CLOSE.finditer(text)]
    )
    for start, end, step in marks:
        if depth == 0:
            kept.append(text[at:start])
            if step < 0:  # a closing mark that closes nothing is ordinary text
                kept.append(text[start:end])
                at = end
                continue
        depth = max(0, depth + step)
        at = end
    if depth == 0:
        kept.append(text[at:])
    return "".join(kept)


def strip_private_value(value: object) -> object:
    """A JSON value with the private parts of every string in it cut."""
    if isinstance(value, str):
        return strip_private(value)
    if isinstance(value, list):
        return [strip_private_value(item) for item in value]
    if isinstance(value, dict):
        return {key: strip_private_value(item) for key, item in value.items()}
    return value


def matches_project(patterns: list[str], cwd: str, identities: list[str], slug: str | None) -> bool:
    """Whether one of `patterns` names this project.

    A pattern is a folder (it and all below it; `~` is the person's home), a glob over folders, a slug, or a
    remote as `host/owner/name` (globs allowed).
    """
    real = os.path.realpath(cwd) if cwd else ""
    places = [place for place in {cwd, real} if place]
    remotes = [name.split(":", 1)[1] for name in identities if name.startswith("remote:")]
    roots = [name.split(":", 1)[1] for name in identities if name.startswith("path:")]
    for raw in patterns:
        pattern = os.path.expanduser(raw.strip()).rstrip("/") or raw.strip()
        if not pattern:
            continue
        if pattern.startswith("/"):
            resolved = os.path.realpath(pattern) if not _is_glob(pattern) else pattern
            for place in places + roots:
                if _below(place, pattern) or _below(place, resolved) or matches_path(pattern, place):
                    return True
        elif pattern == slug or any(
            fnmatch.fnmatch(r, pattern.lower().split("remote:")[-1]) for r in remotes
        ):
            return True
    return False


def matches_path(pattern: str, path: str) -> bool:
    """Whether `path` or a folder above it matches the glob; `**` and `*` both cross folders.

    A pattern without a slash names files or folders of that name anywhere.
    """
    pattern = os.path.expanduser(pattern)
    if "/" not in pattern:
        return any(fnmatch.fnmatchcase(part, pattern) for part in path.split("/"))
    pattern = pattern.rstrip("/")
    wanted = [pattern, pattern + "/*"]
    if pattern.startswith("**/"):
        wanted += [pattern[3:], pattern[3:] + "/*"]
    elif not pattern.startswith("/"):
        wanted += ["*/" + pattern, "*/" + pattern + "/*"]
    return any(fnmatch.fnmatchcase(path, form) for form in wanted)


def names_hidden_path(patterns: list[str], value: object) -> bool:
    """Whether a tool's input or output names a path that must never be indexed."""
    if not patterns:
        return False
    return any(matches_path(pattern, path) for path in _paths(value) for pattern in patterns)


def _paths(value: object) -> list[str]:
    """Whatever in a JSON value can be a path: strings under path-like keys, and words with a slash or dot."""
    found: list[str] = []
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, str) and key.lower() in ("file_path", "filepath", "path", "notebook_path"):
                found.append(item)
            else:
                found.extend(_paths(item))
    elif isinstance(value, list):
        for item in value:
            found.extend(_paths(item))
    elif isinstance(value, str):
        for word in value[:20000].split():
            word = word.strip("\"'`(),;:<>=")
            if "/" in word or "." in word:
                found.append(word)
    return found


def _below(place: str, folder: str) -> bool:
    return place == folder or place.startswith(folder + "/")


def _is_glob(pattern: str) -> bool:
    return any(mark in pattern for mark in "*?[")
