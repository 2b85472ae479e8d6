"""Changing a file only where it is meant to change.

An edit replaces the characters of one value, or inserts one line; BOM, line ends, comments, order and
unknown keys stay byte for byte. What cannot be edited for sure is refused and left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import yaml  # type: ignore[import-untyped]  # the package brings no types

from ultan.library import header as front
from ultan.library.errors import UnreadableEntry
from ultan.library.fields import ORDER, canonical
from ultan.wire.files import utc_now
from ultan.wire.render import render

Scalar: TypeAlias = "str | int | float | bool"
FieldValue: TypeAlias = "Scalar | Sequence[FieldValue] | Mapping[str, FieldValue]"


def set_field(raw: bytes, key: str, value: FieldValue, path: str = "") -> bytes:
    """`raw` with one header value set: one line changes, or one is inserted before the closing `---`.

    An existing spelling (`fired-helpful`) is kept. A value that stood on several lines becomes one line; a
    file without a header gets one. Raises UnreadableEntry where the header cannot be read, repeats a key
    or writes this value in a way that cannot be replaced for sure.
    """
    text = decode(raw, path)
    parts = _split(text, path)
    if not parts.has_header:
        line = f"{key}: {render(value)}{parts.newline}"
        fence = "---" + parts.newline
        return (text[: parts.body] + fence + line + fence + text[parts.body :]).encode("utf-8")
    items = _read(parts, path)
    item = next((item for name, item in items.items() if canonical(name) == canonical(key)), None)
    if item is None:
        line = " " * _indent(parts.header) + f"{key}: {render(value)}{parts.newline}"
        changed = text[: parts.stop] + line + text[parts.stop :]
    else:
        changed = _replaced(parts, item, render(value), path)
    _verify(parts, items, changed, item.key if item else key, value, path)
    return changed.encode("utf-8")


def set_fields(raw: bytes, fields: Mapping[str, FieldValue], path: str = "") -> bytes:
    """set_field for each of `fields`."""
    for key, value in fields.items():
        raw = set_field(raw, key, value, path)
    return raw


def edit(raw: bytes, fields: Mapping[str, FieldValue], now: float | None, path: str = "") -> bytes:
    """set_fields and, if anything changed, `updated`: the way to change what an entry says.

    Counters are set with set_field, which leaves `updated` alone.
    """
    changed = set_fields(raw, fields, path)
    return raw if changed == raw else set_field(changed, "updated", utc_now(now)[:10], path)


def replace_body(raw: bytes, body: str, path: str = "") -> bytes:
    """`raw` with another body, in the file's own line ends; the header stays byte for byte."""
    parts = _split(decode(raw, path), path)
    if parts.newline != "\n":
        body = body.replace("\r\n", "\n").replace("\n", parts.newline)
    head = parts.text[: parts.body]
    if parts.has_header and body and not head.endswith("\n"):
        head += parts.newline
    return (head + body).encode("utf-8")


def render_new(fields: Mapping[str, FieldValue], body: str, now: float | None = None) -> bytes:
    """A new entry's file. `fields` in any order; `created` and `updated` are set unless given."""
    today = utc_now(now)[:10]
    values = {"created": today, "updated": today, **fields}
    known = [key for key in ORDER if key in values]
    others = [key for key in values if key not in ORDER]
    lines = [f"{key}: {render(values[key])}\n" for key in known + others]
    return ("---\n" + "".join(lines) + "---\n\n" + body.strip("\n") + "\n").encode("utf-8")


def decode(raw: bytes, path: str) -> str:
    """The file's text, its BOM included. Raises UnreadableEntry where it is empty or not UTF-8 text."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise UnreadableEntry(path or "The file", "it is not UTF-8", "Save it as UTF-8 first.") from None
    if "\0" in text or not text.strip(front.BOM + " \t\r\n"):
        raise UnreadableEntry(path or "The file", "it holds no text", "Write or delete it first.")
    return text


def _split(text: str, path: str) -> front.Parts:
    try:
        return front.split(text)
    except front.HeaderError as error:
        raise _refusal(path, error) from None


def _read(parts: front.Parts, path: str) -> dict[str, front.Item]:
    try:
        items = front.read(parts.header)
    except front.HeaderError as error:
        raise _refusal(path, error) from None
    seen: set[str] = set()
    for name, item in items.items():
        if len(item.nodes) > 1 or canonical(name) in seen:
            raise UnreadableEntry(
                path or "The file", f"{name} is given more than once", "Keep one of the lines."
            )
        seen.add(canonical(name))
    return items


def _refusal(path: str, error: front.HeaderError) -> UnreadableEntry:
    return UnreadableEntry(
        path or "The file", f"line {error.line}: {error.message}", f"To fix it: {error.fix}."
    )


def _indent(header: str) -> int:
    for line in header.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            return len(line) - len(line.lstrip(" "))
    return 0


def _replaced(parts: front.Parts, item: front.Item, value: str, path: str) -> str:
    """The file's text with the characters of one value replaced."""
    text, header = parts.text, parts.header
    node = item.nodes[0]
    begin, end = node.start_mark.index, _end(header, node)
    key = re.compile(rf"""(?m)^[ ]*(["']?){re.escape(item.key)}\1[ \t]*:""")
    found = next((m for m in key.finditer(header) if header.count("\n", 0, m.end()) + 2 == item.line), None)
    if found is None or begin < found.end():
        raise UnreadableEntry(
            path or "The file", f"{item.key} is written in an unusual way", "Edit it by hand."
        )
    base = parts.start
    line_end = re.compile(r"\r?\n|\Z").search(header, found.end())
    assert line_end is not None  # \Z always matches
    if begin <= line_end.start() and end > begin:
        return text[: base + begin] + value + text[base + end :]
    # Nothing on the key's own line but perhaps a comment: the value goes before it, lines below are dropped.
    rest = header[found.end() : line_end.start()]
    kept = text[: base + found.end()] + " " + value + ((" " + rest.lstrip()) if rest.strip() else "")
    return kept + text[base + max(end if end > begin else 0, line_end.start()) :]


def _end(header: str, node: Any) -> int:
    """Where a value's last character stands; YAML counts following blanks and comments to blocks."""
    if isinstance(node, yaml.ScalarNode):
        end = int(node.end_mark.index)
        if node.style in ("|", ">"):
            return len(header[:end].rstrip())
        return end
    if node.flow_style:
        return int(node.end_mark.index)
    children = [child for pair in node.value for child in (pair if isinstance(pair, tuple) else (pair,))]
    return max((_end(header, child) for child in children), default=int(node.start_mark.index))


def _verify(
    before: front.Parts, items: Mapping[str, front.Item], text: str, key: str, value: FieldValue, path: str
) -> None:
    """Refuse an edit that changed more or less than it should; a last line of defence."""
    try:
        after = front.split(text)
        now = front.read(after.header)
        wanted = front.to_value(yaml.compose(render(value), Loader=front.LOADER))
        same = now[key].values == [wanted] and all(
            now[name].values == item.values for name, item in items.items() if name != key
        )
        whole = set(now) == set(items) | {key} and text[after.body :] == before.text[before.body :]
    except (front.HeaderError, yaml.YAMLError, KeyError):
        same = whole = False
    if not (same and whole):
        raise UnreadableEntry(path or "The file", f"{key} cannot be set for sure", "Edit it by hand.")
