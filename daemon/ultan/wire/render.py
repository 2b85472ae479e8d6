"""The text of a new entry: front matter that all YAML readers take the same way, the body untouched."""

from __future__ import annotations

import json
import re

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9 _/.,()'-]*[A-Za-z0-9)]\Z")
_WORDS_WITH_A_MEANING = frozenset("true false yes no on off null none y n".split())


def entry(fields: list[tuple[str, object]], body: str) -> str:
    """A whole file: `fields` in order (text, numbers, booleans, lists of text, flat dicts), then `body`.

    The body is kept as it is; only a missing last line end is added.
    """
    lines = ["---"]
    for name, value in fields:
        lines.append("%s: %s" % (name, scalar(value)))
    lines.append("---")
    return "\n".join(lines) + "\n" + body + ("" if body.endswith("\n") else "\n")


def scalar(value: object) -> str:
    """One value in YAML's flow form; text is quoted unless it is plain beyond doubt."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_inner(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join("%s: %s" % (key, _inner(item)) for key, item in value.items()) + "}"
    text = str(value)
    if re.match(r"\d{4}-\d{2}-\d{2}\Z", text):
        return text
    if _PLAIN.match(text) and text.lower() not in _WORDS_WITH_A_MEANING:
        return text
    return _quoted(text)


def _inner(item: object) -> str:
    """The same inside brackets, where a comma would end the value."""
    written = scalar(item)
    return (
        _quoted(str(item))
        if isinstance(item, str) and not written.startswith('"') and "," in written
        else written
    )


def _quoted(text: str) -> str:
    """JSON's double quotes, which YAML reads too, with what YAML does not allow raw escaped."""
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(
        c if c.isprintable() else "\\u%04x" % ord(c) if ord(c) < 0x10000 else "\\U%08x" % ord(c)
        for c in quoted
    )
