"""The text of a new entry: front matter that all YAML readers take the same way, the body untouched."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

# Written without quotes: what every YAML reader takes for the same text.
_PLAIN = re.compile(r"[A-Za-z](?:(?:[\w ./+()-]|:(?=[\w/]))*[\w./+()-])?", re.ASCII)
_PLAIN_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\dZ)?")
_WORDS = frozenset(("true", "false", "yes", "no", "on", "off", "null", "none", "y", "n"))


def entry(fields: list[tuple[str, object]], body: str) -> str:
    """A whole file: `fields` in order (text, numbers, booleans, lists, flat dicts), then `body` as it is.

    Only a missing last line end is added.
    """
    lines = ["---", *("%s: %s" % (name, render(value)) for name, value in fields), "---"]
    return "\n".join(lines) + "\n" + body + ("" if body.endswith("\n") else "\n")


def render(value: object) -> str:
    """A value as YAML on one line; text is quoted unless it is plain beyond doubt."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return format(value, ".6g") if value != int(value) else format(value, ".1f")
    if isinstance(value, Mapping):
        return "{" + ", ".join("%s: %s" % (_text(str(key)), render(value[key])) for key in value) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(render(item) for item in value) + "]"
    return _text(str(value))


def _text(text: str) -> str:
    if (_PLAIN.fullmatch(text) and text.lower() not in _WORDS) or _PLAIN_DATE.fullmatch(text):
        return text
    if "\\" in text and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return "".join(c if c.isprintable() else _escaped(c) for c in json.dumps(text, ensure_ascii=False))


def _escaped(char: str) -> str:
    code = ord(char)
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"  # half a character cannot be written at all
    return "\\u%04x" % code if code <= 0xFFFF else "\\U%08x" % code
