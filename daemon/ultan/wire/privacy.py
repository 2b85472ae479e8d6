"""What the person marked as private, and which projects and paths are not listened to."""

from __future__ import annotations

import fnmatch
import os
import re

PRIVATE_PROMPT = "#private"
# Two characters that some editors put before a text and nobody sees.
_UNSEEN = "\ufeff\u200b"
_PATH_KEYS = frozenset("filepath path notebookpath directory folder cwd".split())
_PATH_CHARS = 4096
_LOOK_CHARS = 200_000
# Patterns that most runs of a hook never need; `re` compiles and keeps them at their first use.
_SPLIT = r"[\s\"'`()<>|;&,{}\[\]]+"
_QUOTED = r"[\"']([^\"'\n]{1,400})[\"']"
_MARK = r"(?i)<(/?)private\s{0,9}>"


def is_private_prompt(prompt: str) -> bool:
    """Whether the whole prompt is marked: it starts with `#private` (as a word of its own)."""
    head = prompt.lstrip().lstrip(_UNSEEN).lstrip()[: len(PRIVATE_PROMPT) + 1].lower()
    return head.startswith(PRIVATE_PROMPT) and not head[len(PRIVATE_PROMPT) :].isalnum()


def strip_private(text: str) -> str:
    """`text` without its `<private>...</private>` parts; an unclosed part reaches to the end.

    Parts may nest: what lies inside an outer pair stays cut after an inner pair closes.
    """
    if "<private" not in text.lower():
        return text
    kept: list[str] = []
    depth = 0
    at = 0
    for mark in re.finditer(_MARK, text):
        start, end = mark.span()
        step = -1 if mark.group(1) else 1
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
        if len(value) > 1 and all(isinstance(item, str) for item in value):
            # the lines of one text: a part may open in one of them and close in another
            text = "\n".join(str(item) for item in value)
            kept = strip_private(text)
            return kept.split("\n") if kept != text else value
        return [strip_private_value(item) for item in value]
    if isinstance(value, dict):
        return {strip_private(str(key)): strip_private_value(item) for key, item in value.items()}
    return value


def matches_project(patterns: list[str], cwd: str, identities: list[str], slug: str | None) -> bool:
    """Whether one of `patterns` names this project.

    A pattern is a folder (it and all below it; `~` is the person's home), a glob over folders, a slug or a
    glob over slugs, or a remote in any spelling (as `host/owner/name` with globs).
    """
    remotes = [name.split(":", 1)[1] for name in identities if name.startswith("remote:")]
    places = [name.split(":", 1)[1] for name in identities if name.startswith("path:")]
    if cwd:
        places += [cwd, real_path(cwd)]
    return any(_matches_project(raw, places, remotes, slug or "") for raw in patterns)


def _matches_project(raw: str, places: list[str], remotes: list[str], slug: str) -> bool:
    pattern = os.path.expanduser(raw.strip())
    pattern = pattern.rstrip("/") or pattern
    if not pattern:
        return False
    if pattern.startswith("/"):
        forms = [pattern] if _is_glob(pattern) else [pattern, real_path(pattern)]
        return any(_below(place, form) or matches_path(pattern, place) for place in places for form in forms)
    if fnmatch.fnmatchcase(slug, pattern):
        return True
    remote = pattern.split("remote:")[-1]
    if "://" in remote or "@" in remote:
        from ultan.wire.project import normalise_remote

        remote = normalise_remote(remote) or remote
    if any(fnmatch.fnmatchcase(name, remote.lower()) for name in remotes):
        return True
    return "/" in pattern and any(matches_path(pattern, place) for place in places)


def matches_path(pattern: str, path: str) -> bool:
    """Whether `path` or a folder above it matches the glob; `**` and `*` both cross folders.

    A pattern without a slash names files or folders of that name anywhere.
    """
    pattern = os.path.expanduser(pattern)
    while len(pattern) > 1 and pattern.endswith(("/", "/**")):
        pattern = pattern[:-1] if pattern.endswith("/") else pattern[:-3]
    if "/" not in pattern:
        return bool(pattern) and any(fnmatch.fnmatchcase(part, pattern) for part in path.split("/"))
    wanted = [pattern, pattern + "/*"]
    if pattern.startswith("**/"):
        wanted += [pattern[3:], pattern[3:] + "/*"]
    elif not pattern.startswith("/"):
        wanted += ["*/" + pattern, "*/" + pattern + "/*"]
    return any(fnmatch.fnmatchcase(path, form) for form in wanted)


def names_hidden_path(patterns: list[str], cwd: str, given: object, answered: object = None) -> bool:
    """Whether a tool's input or output names a path that must never be indexed.

    Paths are looked for as they stand and from `cwd`, with `~`, `$HOME` and `..` resolved. What is too much
    to look through counts as hidden.
    """
    if not patterns:
        return False
    words: list[str] = []
    named: list[str] = []
    if not (_collect(given, named, words, bare=True) and _collect(answered, named, words, bare=False)):
        return True
    home = os.path.expanduser("~")
    for path in set(named + words):
        path = path.replace("$HOME", home)
        path = home + path[1:] if path[:2] in ("~", "~/") else path
        forms = {path, os.path.normpath(os.path.join(cwd, path))}
        forms.update(real_path(form) for form in list(forms) if path in named)
        if any(matches_path(pattern, form) for form in forms for pattern in patterns):
            return True
    return False


def _collect(value: object, named: list[str], words: list[str], bare: bool) -> bool:
    """Add whatever in a JSON value can be a path: strings under path-like keys to `named`, words to `words`.

    bare: also words without a slash or dot. False when the value is too large to be looked through.
    """
    waiting = [value]
    left = _LOOK_CHARS
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            for key, inner in item.items():
                if isinstance(inner, str) and str(key).lower().replace("_", "") in _PATH_KEYS:
                    named.append(inner[:_PATH_CHARS])
                else:
                    waiting.append(inner)
        elif isinstance(item, list):
            waiting.extend(item)
        elif isinstance(item, str):
            left -= len(item)
            if left < 0:
                return False
            for word in _words(item):
                if bare or "/" in word or "." in word:
                    words.append(word)
    return True


def _words(text: str) -> set[str]:
    """The words of a text and its quoted parts, also without what stands before `=` or after `:`."""
    text = text.replace("${HOME}", "$HOME")
    found = set(re.findall(_QUOTED, text)) | set(re.split(_SPLIT, text))
    for word in list(found):
        found.update(part for mark in "=:@" if mark in word for part in word.split(mark))
    return {word[:_PATH_CHARS] for word in found if word}


def real_path(path: str) -> str:
    """`path` with links resolved; as it is where it can be no file's path."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path


def _below(place: str, folder: str) -> bool:
    return place == folder or place.startswith(folder.rstrip("/") + "/")


def _is_glob(pattern: str) -> bool:
    return any(mark in pattern for mark in "*?[")
