"""The front matter of a markdown file: where it is, what it says, why it cannot be read.

Values stay strings (and lists and mappings of them): what they mean is decided by the entry model.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, TypeAlias

import yaml  # type: ignore[import-untyped]  # the package brings no types

# libyaml where the package brings it (about ten times as fast), else the same grammar in Python.
LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

HEADER_LIMIT = 64 * 1024
NODE_LIMIT = 5000
DEPTH_LIMIT = 20
BOM = "\ufeff"
_OPEN = re.compile(r"---[ \t]*(?:\r?\n|\Z)")
_CLOSE = re.compile(r"^---[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))

Value: TypeAlias = "str | list[Value] | dict[str, Value] | None"


class HeaderError(ValueError):
    """A header that cannot be read. Fields: line (of the file, from 1), code, message, fix."""

    def __init__(self, line: int, code: str, message: str, fix: str) -> None:
        super().__init__(message)
        self.line = line
        self.code = code
        self.message = message
        self.fix = fix


@dataclass(frozen=True, slots=True)
class Parts:
    """Where things stand in a file's text (offsets in characters, the BOM counted).

    `start..stop` is the header's inside, both -1 without one; `body` is where the body begins.
    """

    text: str
    start: int
    stop: int
    body: int

    @property
    def header(self) -> str:
        return self.text[self.start : self.stop]

    @property
    def has_header(self) -> bool:
        return self.start >= 0

    @property
    def body_line(self) -> int:
        """The line of the file, from 1, on which the body begins."""
        return self.text.count("\n", 0, self.body) + 1

    @property
    def newline(self) -> str:
        """The line end in use: that of the first line."""
        first = self.text.find("\n")
        return "\r\n" if first > 0 and self.text[first - 1] == "\r" else "\n"


def split(text: str) -> Parts:
    """Find the header of a file. Raises HeaderError where one is opened and never closed.

    Only a file whose first line is `---` has a header; later rules belong to the body.
    """
    begin = len(BOM) if text.startswith(BOM) else 0
    opened = _OPEN.match(text, begin)
    if not opened:
        return Parts(text, -1, -1, begin)
    closed = _CLOSE.search(text, opened.end())
    if not closed:
        raise HeaderError(
            1,
            "header-not-closed",
            "the header that begins in line 1 never ends",
            "add a line with `---` after the last `key: value` line",
        )
    return Parts(text, opened.end(), closed.start(), closed.end())


@dataclass(frozen=True, slots=True)
class Item:
    """One key of a header. `line` is the file's; `nodes` holds the YAML node(s), several if repeated."""

    key: str
    line: int
    nodes: tuple[Any, ...]

    @property
    def values(self) -> list[Value]:
        return [to_value(node) for node in self.nodes]


def read(header: str, fences: int = 1) -> dict[str, Item]:
    """The header's keys in order, as written. `fences`: lines of the file before the header.

    Raises HeaderError with the line and the fix where it is no mapping of keys to values.
    """
    if len(header) > HEADER_LIMIT:
        raise HeaderError(1, "header-too-long", "the header is longer than 64 KiB", "move text into the body")
    try:
        root = yaml.compose(header, Loader=LOADER)
    except yaml.YAMLError as error:
        raise explain(header, error, fences) from None
    except RecursionError:
        raise HeaderError(1, "header-yaml", "the header nests too deep", "make it flat") from None
    if root is None:
        return {}
    if not isinstance(root, yaml.MappingNode):
        raise HeaderError(
            fences + 1,
            "header-not-keys",
            "the header is not made of `key: value` lines",
            "write `key: value` lines between the `---` lines, or remove both `---` lines",
        )
    items: dict[str, Item] = {}
    for key, value in root.value:
        line = key.start_mark.line + 1 + fences
        if not isinstance(key, yaml.ScalarNode):
            raise HeaderError(line, "header-yaml", "a key of the header is not a word", "put it in quotes")
        known = items.get(key.value)
        nodes = (*known.nodes, value) if known else (value,)
        items[key.value] = Item(key.value, line, nodes)
    return items


def to_value(node: Any, budget: list[int] | None = None, depth: int = DEPTH_LIMIT) -> Value:
    """Plain Python for a YAML node: strings, lists, mappings, None for a value left empty.

    Bounded in size and depth: aliases that would grow without end are cut to None.
    """
    budget = [NODE_LIMIT] if budget is None else budget
    budget[0] -= 1
    if budget[0] < 0 or depth < 0:
        return None
    if isinstance(node, yaml.ScalarNode):
        return None if not node.style and node.value in _NULLS else str(node.value)
    if isinstance(node, yaml.SequenceNode):
        return [to_value(child, budget, depth - 1) for child in node.value if budget[0] > 0]
    return {
        str(key.value): to_value(value, budget, depth - 1)
        for key, value in node.value
        if budget[0] > 0 and isinstance(key, yaml.ScalarNode)
    }


_KEY = re.compile(r"^(\s*(?:-\s+)?)([^\s:#'\"\[{][^:]*?)\s*:(?:\s+(.*?))?\s*$")
_LIST_ITEM = re.compile(r"^\s*-\s+(.*?)\s*$")


def explain(header: str, error: yaml.YAMLError, fences: int = 1) -> HeaderError:
    """Turn a YAML error into a line, a reason and a fix that a person can follow."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    lines = header.split("\n")
    last = min(mark.line, len(lines) - 1) if mark is not None else len(lines) - 1
    for number, line in enumerate(lines[: last + 1]):
        reason = _culprit(line.rstrip("\r"))
        if reason:
            return HeaderError(number + 1 + fences, "header-yaml", *reason)
    detail = getattr(error, "problem", None) or getattr(error, "reason", None) or "it is not valid YAML"
    return HeaderError(
        last + 1 + fences,
        "header-yaml",
        f"the header cannot be read here: {detail}",
        "put the value in quotes, or make this a plain `key: value` line",
    )


def _culprit(line: str) -> tuple[str, str] | None:
    """The usual slips of people and editors, told from one line: (reason, fix)."""
    indent = line[: len(line) - len(line.lstrip())]
    if "\t" in indent:
        return "a tab at the start of the line", "indent with spaces"
    found = _KEY.match(line)
    listed = _LIST_ITEM.match(line)
    key = found.group(2) + ": " if found else "- "
    value = (found.group(3) or "") if found else (listed.group(1) if listed else "")
    if not value or value[0] in "#|>":
        return None
    quoted = "'" + value.replace("'", "''") + "'"
    if value[0] == '"':
        if re.search(
            r"""\\(?![0abtnvfre "/\\N_LPuUx\t])|\\U(?![0-9A-Fa-f]{8})|\\u(?![0-9A-Fa-f]{4})""", value
        ):
            inner = value[1:-1] if value.endswith('"') and len(value) > 1 else value[1:]
            return "a backslash in double quotes starts an escape", f"use single quotes: `{key}'{inner}'`"
        return None
    if value[0] == "'":
        return None
    if value[0] in "*&!%@`":
        return f"a value cannot begin with `{value[0]}` unless it is quoted", f"quote it: `{key}{quoted}`"
    if value.startswith("[["):
        if re.fullmatch(r"\[\[[^\[\]]*\]\]", value):
            return None
        if found and re.fullmatch(r"\[\[[^\[\]]*\]\](\s*,\s*\[\[[^\[\]]*\]\])+", value):
            links = ", ".join(f'"{link}"' for link in re.findall(r"\[\[[^\[\]]*\]\]", value))
            return "several links in one value are not a list", f"write a list: `{key}[{links}]`"
        return "a link with text after it must be quoted", f"quote it: `{key}{quoted}`"
    if value[0] not in "[{" and re.search(r":(\s|$)", value):
        return "a colon in a value that is not quoted", f"quote it: `{key}{_double(value)}`"
    return None


def _double(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
