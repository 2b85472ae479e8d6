"""The patterns of `triggers.json`, held against a call of a tool.

Each pattern says which texts a match must hold (`literals`); only where one of them occurs is it compiled and
tried, for a bounded time. Of Bash a pattern sees the simple commands of the line, of any other tool the named
field. Standard library only: it runs in a hook before every tool.
"""

from __future__ import annotations

import json
import re
from fnmatch import fnmatchcase

from ultan.wire.bounded import Budget, TimeUp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ultan.wire.shell import Line

# CPU seconds for one pattern, and for all of a call.
EACH_SECONDS, ALL_SECONDS = 0.008, 0.05
NO_TIME = "it could not be tried in time"
NOT_APART = "the line cannot be taken apart"
SEEN_CHARS = 200
# In a text beyond this, thousands of literals are looked for by their pieces first.
LONG = 8_000
# Of a refused pattern these can still be tried, within their time; the others say nothing at all.
_TRIED = ("forever", "complex")


class Hit:
    """An entry that speaks about a call. seen: the part of the call that its pattern matches; doubt: why that
    is not sure, "" where it is.
    """

    __slots__ = ("doubt", "entry", "pattern", "seen")

    def __init__(self, entry: dict[str, object], pattern: str, seen: str, doubt: str = "") -> None:
        self.entry = entry
        self.pattern = pattern
        self.seen = seen
        self.doubt = doubt

    @property
    def blocks(self) -> bool:
        return self.entry.get("severity") == "block"


class Judged:
    """hits: one an entry, those that block first; late: ids of entries whose patterns took too long."""

    __slots__ = ("hits", "late")

    def __init__(self) -> None:
        self.hits: list[Hit] = []
        self.late: list[str] = []


def load(path: str) -> list[dict[str, object]]:
    """The entries with patterns; none where there is no such file. Raises OSError or ValueError."""
    try:
        with open(path, "rb") as handle:
            found = json.loads(handle.read())
    except FileNotFoundError:
        return []
    entries = found.get("entries") if isinstance(found, dict) else None
    if not isinstance(entries, list):
        raise ValueError("no list of entries")
    return [entry for entry in entries if isinstance(entry, dict) and isinstance(entry.get("id"), str)]


def judge(
    tool: str,
    given: dict[str, object],
    entries: list[dict[str, object]],
    speaks: Callable[[dict[str, object]], bool] = lambda entry: True,
    budget: Budget | None = None,
) -> Judged:
    """Which entries speak about a call. given: the tool's input; speaks: whether an entry may, by its scope.
    An entry that blocks and cannot be judged is a hit with a doubt.
    """
    budget = budget or Budget(ALL_SECONDS, EACH_SECONDS)
    views: dict[str, View] = {}
    judged = Judged()
    for entry in sorted(entries, key=lambda entry: entry.get("severity") != "block"):
        hit = _of_entry(tool, given, entry, views, budget, speaks, judged)
        if hit is not None:
            judged.hits.append(hit)
    return judged


def _of_entry(
    tool: str,
    given: dict[str, object],
    entry: dict[str, object],
    views: dict[str, View],
    budget: Budget,
    speaks: Callable[[dict[str, object]], bool],
    judged: Judged,
) -> Hit | None:
    blocks = entry.get("severity") == "block"
    doubtful = None
    asked = False
    for trigger in _triggers(entry):
        if not _is_tool(tool, trigger.get("tool")):
            continue
        field, pattern = trigger.get("field"), trigger.get("pattern")
        if not isinstance(field, str) or not isinstance(pattern, str):
            continue
        if field not in views:
            views[field] = View(tool, field, given)
        view = views[field]
        refused = trigger.get("refused")
        if refused and not (blocks and any(word in str(refused) for word in _TRIED)):
            continue
        if not view.text or not view.may_hold(trigger.get("literals")):
            continue
        if not asked:
            if not speaks(entry):
                return None
            asked = True
        try:
            found = budget.run(lambda view=view, pattern=pattern: view.find(pattern))  # type: ignore[misc]
        except TimeUp:
            if str(entry["id"]) not in judged.late:
                judged.late.append(str(entry["id"]))
            found = (view.text, NO_TIME) if blocks else None
        except (re.error, OverflowError, RecursionError):  # no longer the library's pattern: by hand
            found = None
        if found is None:
            continue
        hit = Hit(entry, pattern, found[0][:SEEN_CHARS], found[1] if blocks else "")
        if not hit.doubt:
            return hit
        doubtful = doubtful or hit
    return doubtful


class View:
    """What a pattern sees of a call: the commands of a shell line, or the text of a field."""

    __slots__ = ("_folded", "_line", "_pieces", "shell", "text")

    def __init__(self, tool: str, field: str, given: dict[str, object]) -> None:
        self.text = _text(given, field)
        self.shell = tool == "Bash" and field == "command"
        self._line: Line | None = None
        self._folded: str | None = None
        self._pieces: frozenset[str] | None = None

    @property
    def line(self) -> Line:
        if self._line is None:
            from ultan.wire.shell import parse

            self._line = parse(self.text)
        return self._line

    def may_hold(self, literals: object) -> bool:
        """Whether one of the literals occurs in what is seen; True where nobody knows any."""
        if not isinstance(literals, list) or not literals:
            return True
        if self._folded is None:
            parts = [self.text]
            if self.shell:
                parts += [text for command in self.line.commands for text in command.texts]
            self._folded = "\n".join(parts).casefold()
            if len(self._folded) > LONG:
                self._pieces = pieces(self._folded)
        folded, known = self._folded, self._pieces
        return any(
            isinstance(literal, str) and (known is None or pieces(literal) <= known) and literal in folded
            for literal in literals
        )

    def find(self, pattern: str) -> tuple[str, str] | None:
        """(what matches, what is doubtful about that), or None. Raises re.error."""
        compiled = re.compile(pattern)
        if not self.shell:
            match = compiled.search(self.text)
            return (match.group(), "") if match else None
        from ultan.wire.shell import matches

        for command in self.line.commands:
            if matches(compiled, command):
                return (command.texts[0], "")
        if not self.line.whole:
            match = compiled.search(self.text)
            if match:
                return (match.group(), NOT_APART)
        return None


def pieces(text: str) -> frozenset[str]:
    """Every three characters in a row. A literal whose pieces are not all in a text is not in it."""
    return frozenset([text[at : at + 3] for at in range(len(text) - 2)])


def _triggers(entry: dict[str, object]) -> Iterator[dict[str, object]]:
    triggers = entry.get("triggers")
    for trigger in triggers if isinstance(triggers, list) else ():
        if isinstance(trigger, dict):
            yield trigger


def _is_tool(tool: str, wanted: object) -> bool:
    """Whether a trigger is for this tool: its name, or one with `*` such as `mcp__github__*`."""
    return isinstance(wanted, str) and (
        tool == wanted or (("*" in wanted or "?" in wanted) and fnmatchcase(tool, wanted))
    )


def _text(given: object, field: str) -> str:
    """The text at a dotted path such as `file_path` or `edits.new_string`; "*": all texts of the input."""
    found = [given]
    for name in field.split(".") if field != "*" else ():
        found = [
            value[name]
            for one in found
            for value in (one if isinstance(one, list) else [one])
            if isinstance(value, dict) and name in value
        ]
    return "\n".join(_texts(found))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, (int, float)):
        yield str(value)
