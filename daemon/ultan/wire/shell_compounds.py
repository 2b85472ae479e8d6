"""Compounds of a shell line: groups, subshells, conditions, loops, cases, and what is piped through them."""

from __future__ import annotations

import re

from ultan.wire.shell_input import Inputs
from ultan.wire.shell_parts import MOST_VALUES, Unfinished

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ultan.wire.shell_parts import Shared, Simple, Variables, Word

_MOST_OPEN = 64
_KEYWORDS = frozenset(
    "if while until for select case function then elif else do done fi esac time coproc [[ { } !".split()
)
_KEYWORD = re.compile(r"[a-z]+|\[\[|[{}!]")
_AFTER_KEYWORD = " \t\n;&|()<>"
_SKIPPED = frozenset(("then", "do", "!", "time", "coproc"))
_CLOSED_BY = {"}": ("{",), "fi": ("if",), "done": ("while", "until", "for", "select"), "esac": ("case",)}
_BRANCHES = frozenset(("if", "while", "until", "for", "select", "case"))


class _Open:
    """A compound that is not closed yet. begin: its first command; piped: what it reads; before: the
    variables as they were, ended: as its branches left them, perhaps: see Compounds; pattern: in a `case`,
    whether a pattern comes next.
    """

    __slots__ = ("before", "begin", "ended", "kind", "pattern", "perhaps", "piped")

    def __init__(self, kind: str, at: Compounds) -> None:
        self.kind = kind
        self.begin = len(at._found)
        self.piped = at._piped
        self.before = self.ended = at.variables
        self.perhaps = at._perhaps
        self.pattern = kind == "case"


class Compounds(Inputs):
    """A reader that knows which compounds are open.

    perhaps: the variables before an `&&` or `||`, None where there was none: what comes then may be left out.
    """

    __slots__ = ("_begin", "_found", "_open", "_perhaps", "_piped")

    def __init__(self, text: str, shared: Shared, variables: Variables) -> None:
        super().__init__(text, shared, variables)
        self._found: list[Simple] = []
        self._begin = 0
        self._piped: list[Simple] | None = None
        self._open: list[_Open] = []
        self._perhaps: Variables | None = None

    def _next(self, piped: list[Simple] | None) -> None:
        """Another command begins; it reads what is piped to it, or what its compound reads."""
        self._begin = len(self._found)
        self._piped = piped or (self._open[-1].piped if self._open else None)

    def _settle(self) -> None:
        """The end of commands that may have been left out: variables may have their values from before."""
        if self._perhaps is not None:
            self.variables = _either(self._perhaps, self.variables)
            self._perhaps = None

    def _turn(self) -> None:
        """The end of a branch: the next one knows nothing of it."""
        self._settle()
        if self._open:
            self._open[-1].ended = _either(self._open[-1].ended, self.variables)
            self.variables = self._open[-1].before

    def _push(self, kind: str) -> None:
        if len(self._open) >= _MOST_OPEN:
            raise Unfinished("too deep")
        self._open.append(_Open(kind, self))
        self._perhaps = None

    def _close(self, kinds: tuple[str, ...]) -> None:
        if not self._open or self._open[-1].kind not in kinds:
            raise Unfinished("an end of something else")
        self._settle()
        closed = self._open.pop()
        self._begin = closed.begin
        self._perhaps = closed.perhaps
        if closed.kind in _BRANCHES:
            self.variables = _either(closed.ended, self.variables)

    def _bracket(self) -> None:
        """A subshell, or an arithmetic in double brackets."""
        start = self.at
        if self.text.startswith("((", start):
            self.at += 2
            if self.balanced(2, True):
                return
            self.at = start
        self.at += 1
        self._push("(")

    def _brackets(self) -> bool:
        """Go past the `()` of a function; whether it is there."""
        closing = self.text.find(")", self.at)
        if not self.text.startswith("(", self.at) or self.text[self.at + 1 : closing].strip(" \t"):
            return False
        self.at = closing + 1
        return closing > 0

    def _keyword_here(self) -> str:
        """The keyword that stands here, or ""."""
        found = _KEYWORD.match(self.text, self.at)
        if found is None or found.group() not in _KEYWORDS:
            return ""
        after = self.text[found.end() : found.end() + 1]
        ends = after in _AFTER_KEYWORD or self.text.startswith("\\\n", found.end())
        return found.group() if ends else ""

    def _keyword(self, word: str) -> None:
        """Go past a keyword and what belongs to it."""
        self.at += len(word)
        if word == "[[":
            self._condition()
        elif word in _CLOSED_BY:
            self._close(_CLOSED_BY[word])
        elif word in ("else", "elif"):
            self._turn()
        elif word in _SKIPPED:
            self.blanks()
            if word == "time" and self.text.startswith("-p", self.at):
                self.at += 2
        elif word == "function":
            self.blanks()
            self.words()
            self.blanks()
            self._brackets()
        else:
            self._push(word)
            if word in ("for", "select"):
                self._values()
            elif word == "case":
                self.blanks()
                self.words()
                self.gaps()
                if not self.text.startswith("in", self.at):
                    raise Unfinished("a case without in")
                self.at += 2

    def _values(self) -> None:
        """The variable of a loop and its values."""
        self.blanks()
        if self.text.startswith("((", self.at):
            self.at += 2
            self.balanced(2, True)
            return
        name = self.one()
        self.gaps()
        if self.text[self.at : self.at + 3] not in ("in ", "in\t", "in\n"):
            return
        self.at += 2
        values: list[Word] = []
        self.blanks()
        while self.at < self.end and self.text[self.at] not in "\n;&|()<>":
            values.extend(self.words())
            self.blanks()
        if values:
            self.variables = {**self.variables, name: tuple((word.value,) for word in values[:MOST_VALUES])}

    def _condition(self) -> None:
        """`[[ ... ]]`: what looks like an operator there is none."""
        while self.at < self.end:
            self.gaps()
            if self.at < self.end and self.text[self.at] in "()<>|&!;":
                self.shared.step()
                self.at += 1
                continue
            if any(word.value == "]]" and not word.quoted for word in self.words()):
                return
        raise Unfinished("a condition that nothing ends")

    def _case_pattern(self) -> None:
        self.gaps()
        if self._keyword_here() == "esac":
            self._open[-1].pattern = False
            return
        if self.text.startswith("(", self.at):
            self.at += 1
        while self.at < self.end:
            self.gaps()
            char = self.text[self.at : self.at + 1]
            if char == ")":
                self.at += 1
                self._open[-1].pattern = False
                self._next(None)
                return
            if char == "|":
                self.at += 1
            elif not self._was_read():
                break
        raise Unfinished("a case that nothing ends")

    def _was_read(self) -> bool:
        before = self.at
        self.words()
        return self.at > before


def _either(one: Variables, other: Variables) -> Variables:
    """The variables where nobody knows which of two ways was taken."""
    if one is other:
        return one
    both = dict(one)
    for name, values in other.items():
        if both.get(name) is not values:
            both[name] = tuple(dict.fromkeys(both.get(name, ()) + values))[-MOST_VALUES:]
    return both
