"""Reading single values of a header: each wrong one becomes its default and a problem for lint."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from ultan.library.header import Item, Value

if TYPE_CHECKING:
    from collections.abc import Mapping

_DATE = re.compile(
    r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
    r"(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
)
_TRUE = frozenset(("true", "yes", "on", "1"))
_FALSE = frozenset(("false", "no", "off", "0"))
# What a trigger means that names a tool and no field.
DEFAULT_FIELDS = {"Bash": "command"}
# Every key of the model, in the order in which a new entry has them.
ORDER = (
    "id",
    "title",
    "type",
    "scope",
    "status",
    "applies_when",
    "tags",
    "created",
    "updated",
    "encoding_strength",
    "reinforced",
    "last_reinforced",
    "fired_helpful",
    "pinned",
    "requires_approval",
    "source",
    "supersedes",
    "superseded_by",
    "block_triggers",
    "severity",
    "curated",
)
KNOWN = frozenset(ORDER)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something to put right: `path` relative to knowledge/, `line` from 1, a code, a reason, a fix."""

    path: str
    line: int
    code: str
    message: str
    fix: str


@dataclass(frozen=True, slots=True)
class Trigger:
    """A pattern to look for in one field of one tool's call."""

    tool: str
    field: str
    pattern: str


def canonical(key: str) -> str:
    """The model's spelling of a key: `fired-helpful` is `fired_helpful`; unknown keys stay as they are."""
    name = key.replace("-", "_").lower()
    return name if name in KNOWN else key


class Reader:
    """Typed access to a header's items; collects `problems` on the way."""

    def __init__(self, path: str, items: dict[str, Item]) -> None:
        self.path = path
        self.problems: list[Problem] = []
        self._items: dict[str, Item] = {}
        self._repeated: set[str] = set()
        for key, item in items.items():
            name = canonical(key)
            known = self._items.get(name)
            if known is not None:
                item = Item(key, item.line, known.nodes + item.nodes)
            self._items[name] = item
            if len(item.nodes) > 1:
                self._repeated.add(name)
        for name in sorted(self._repeated):
            self.note(name, "repeated-key", f"{name} is given more than once", "keep one of the lines")

    @property
    def any_repeated(self) -> bool:
        return bool(self._repeated)

    def repeated(self, key: str) -> bool:
        return key in self._repeated

    def note(self, key: str, code: str, message: str, fix: str) -> None:
        item = self._items.get(key)
        problem = Problem(self.path, item.line if item else 1, code, message, fix)
        if problem not in self.problems:
            self.problems.append(problem)

    def value(self, key: str) -> Value:
        """The value as it stands (of repeated ones the last, as YAML readers do); None if absent."""
        item = self._items.get(key)
        return item.values[-1] if item is not None else None

    def text(self, key: str, default: str = "") -> str:
        value = self.value(key)
        if value is None:
            return default
        if isinstance(value, str):
            return value.strip()
        self._wrong(key, "a text", default or "nothing")
        return default

    def title(self) -> str:
        return " ".join(self.text("title").split())

    def choice(self, key: str, allowed: tuple[str, ...], aliases: Mapping[str, str], default: str) -> str:
        text = self.text(key).lower()
        text = aliases.get(text, text)
        if not text:
            return default
        if text in allowed:
            return text
        self.note(
            key, "bad-value", f"{key} {text!r} is not known, taken as {default}", "use " + ", ".join(allowed)
        )
        return default

    def date(self, key: str) -> str:
        text = self.text(key)
        if not text or _DATE.fullmatch(text):
            return text
        self.note(key, "bad-value", f"{key} {text!r} is no date", "write it as 2026-11-20")
        return ""

    def fraction(self, key: str, default: float) -> float:
        text = self.text(key)
        if not text:
            return default
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if 0.0 <= number <= 1.0:
            return number
        self._wrong(key, "a number from 0 to 1", str(default))
        return default

    def count(self, key: str) -> int:
        text = self.text(key)
        if not text:
            return 0
        if text.isascii() and text.isdigit() and len(text) <= 9:
            return int(text)
        self._wrong(key, "a whole number", "0")
        return 0

    def flag(self, key: str) -> bool:
        text = self.text(key).lower()
        if text in _TRUE or text in _FALSE or not text:
            return text in _TRUE
        self._wrong(key, "true or false", "false")
        return False

    def tags(self) -> tuple[str, ...]:
        value = self.value("tags")
        if isinstance(value, str):
            words = value.replace(",", " ").split()
        else:
            words = [word.strip() for word in self._strings("tags", value)]
        return tuple(dict.fromkeys(tag for tag in (word.lstrip("#") for word in words) if tag))

    def ids(self, key: str) -> tuple[str, ...]:
        """Ids, also when written as links: `x`, `"[[x|alias]]"`, `[[x]]`."""
        value = self.value(key)
        texts = re.split(r",", value) if isinstance(value, str) else self._strings(key, value)
        found = []
        for text in texts:
            id = text.strip().removeprefix("[[").removesuffix("]]").partition("|")[0].partition("#")[0]
            id = id.strip().removesuffix(".md").strip("/")
            if id:
                found.append(id)
        return tuple(dict.fromkeys(found))

    def source(self) -> Mapping[str, str]:
        value = self.value("source")
        if isinstance(value, str):
            return MappingProxyType({"by": value})
        if isinstance(value, dict):
            return MappingProxyType({k: v for k, v in value.items() if isinstance(v, str)})
        if value is not None:
            self._wrong("source", "a mapping such as {by: user}", "nothing")
        return MappingProxyType({})

    def triggers(self) -> tuple[Trigger, ...]:
        value = self.value("block_triggers")
        items = value if isinstance(value, list) else [] if value is None else [value]
        found = []
        for item in items:
            trigger = self._trigger(item)
            if trigger is None:
                self._wrong("block_triggers", "patterns or {tool, field, pattern}", "not there")
            else:
                found.append(trigger)
        return tuple(dict.fromkeys(found))

    @staticmethod
    def _trigger(item: Value) -> Trigger | None:
        if isinstance(item, str):
            return Trigger("Bash", "command", item) if item else None
        if not isinstance(item, dict):
            return None
        tool, pattern = item.get("tool") or "Bash", item.get("pattern")
        if not isinstance(tool, str) or not isinstance(pattern, str) or not pattern:
            return None
        field = item.get("field") or DEFAULT_FIELDS.get(tool, "")
        return Trigger(tool, field, pattern) if isinstance(field, str) and field else None

    def _strings(self, key: str, value: Value) -> list[str]:
        """The strings of a list; an unquoted `[[x]]` is a list in a list and counts as `x`."""
        if value is None:
            return []
        if not isinstance(value, list):
            self._wrong(key, "a list", "empty")
            return []
        found: list[str] = []
        for item in value:
            inner = item if isinstance(item, list) else [item]
            while len(inner) == 1 and isinstance(inner[0], list):
                inner = inner[0]
            for text in inner:
                if isinstance(text, str):
                    found.append(text)
                elif text is not None:
                    self._wrong(key, "a list of texts", "without that item")
        return found

    def _wrong(self, key: str, wanted: str, taken: str) -> None:
        self.note(key, "bad-value", f"{key} should be {wanted}; taken as {taken}", f"write {wanted}")
