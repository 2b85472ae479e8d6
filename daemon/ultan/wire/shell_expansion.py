"""What stands for something else in a shell line: quotes, escapes, variables, substitutions. None is run."""

from __future__ import annotations

import re

from ultan.wire.shell_output import printed, unescape
from ultan.wire.shell_parts import (
    BLANK,
    BLANKS,
    BREAK,
    CLOSING,
    MOST_ESCAPES,
    MOST_VALUES,
    MOST_VARIABLES,
    MOST_WORDS,
    OPENING,
    Unfinished,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ultan.wire.shell_parts import Shared, Simple, Variables

# An expansion that nobody knows stands in its word as it is written, so much of it.
_WRITTEN_CHARS = 200
_DOUBLE = re.compile(r'[^"\\$`]+')
_HEREDOC = re.compile(r"[^\\$`]+")
# Rare ones are made when they are needed: each costs a hook at its start.
_BRACED = r"""[^}'"\\$`]+"""
_NESTED = r"""[^()'"\\$`]+"""
NAME = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]", re.A)
_PARAMETER = r"([A-Za-z_]\w*|\d+|[@*])(\[[@*]\])?(:?[-=+?]|\})"


class Expansions:
    """A reader at a place of a text. What stands in `$(...)` and the like is read by `commands`."""

    __slots__ = ("at", "end", "in_double", "pending", "shared", "text", "variables")

    def __init__(self, text: str, shared: Shared, variables: Variables) -> None:
        shared.take(len(text))
        self.text = text
        self.at = 0
        self.end = len(text)
        self.shared = shared
        self.variables = variables
        self.in_double = False
        self.pending: list[tuple[Simple, str, bool, bool]] = []

    def commands(self, closing: str) -> list[Simple]:
        """The commands up to the closing bracket, or to the end where it is "". Raises Unfinished."""
        raise NotImplementedError

    def inside(self, text: str) -> Expansions:
        """A reader of a text that stands inside this one."""
        return type(self)(text, self.shared, self.variables)

    def double(self, closing: str) -> str:
        """The text up to the closing quote; up to the end, as in a here-document, where it is ""."""
        text, parts = self.text, []
        outer, self.in_double = self.in_double, True
        plain, special = (_DOUBLE, '$`"\\') if closing else (_HEREDOC, "$`\\")
        while self.at < self.end:
            found = plain.match(text, self.at)
            if found:
                parts.append(found.group())
                self.at = found.end()
                continue
            self.shared.step()
            char = text[self.at]
            if char == "\\":
                after = text[self.at + 1 : self.at + 2]
                if after != "\n":
                    parts.append(after if after and after in special else "\\" + after)
                self.at += 2
            elif char == "$":
                parts.append(self.dollar())
            elif char == "`":
                parts.append(self.ticks(closing == '"'))
            else:
                self.at += 1
                break
        else:
            if closing:
                raise Unfinished("a quote that nothing ends")
        self.at = min(self.at, self.end)
        self.in_double = outer
        return "".join(parts)

    def written(self, start: int) -> str:
        """What stands from there to here, without its blanks: no pattern may take its words for words."""
        text = self.text[start : min(self.at, start + _WRITTEN_CHARS)]
        return OPENING + BLANKS.sub(BLANK, text) + CLOSING

    def set(self, name: str, words: tuple[str, ...]) -> None:
        """Keep the value of a variable; where another one has several values, it may have several too."""
        if name not in self.variables and len(self.variables) >= MOST_VARIABLES:
            return
        words = words[:MOST_WORDS]
        values = self.variables.get(name, ()) if self.shared.choice else ()
        if words not in values:
            values = (*values, words)[-MOST_VALUES:]
        self.variables = {**self.variables, name: values}

    def look_up(self, name: str) -> tuple[str, ...] | None:
        """The words of a variable's value in this reading, None where nobody knows it."""
        values = self.variables.get(name)
        if not values:
            return (" ",) if name == "IFS" else None
        self.shared.ways = max(self.shared.ways, len(values))
        value = values[self.shared.choice % len(values)]
        self.shared.take(sum(map(len, value)) + len(value))
        return value

    def dollar(self) -> str:
        """The value of what begins with `$` here."""
        text, start = self.text, self.at
        if not text.startswith(("$(", "${"), start):
            return self._variable()
        self.shared.enter()
        value = self._bracketed(start)
        self.shared.leave()
        return value

    def _variable(self) -> str:
        name = NAME.match(self.text, self.at + 1)
        if name is None:
            self.at += 1
            return "$"
        self.at = name.end()
        value = self.look_up(name.group())
        return "$" + name.group() if value is None else BREAK.join(value)

    def _bracketed(self, start: int) -> str:
        text = self.text
        if text.startswith("$((", start):
            self.at += 3
            if self.balanced(2, True):
                return self.written(start)
            self.at = start
        if text.startswith("$(", start):
            self.at += 2
            value = self._substituted(")")
            return self.written(start) if value is None else value
        self.at += 2
        return self._parameter(start)

    def _parameter(self, start: int) -> str:
        """The value of `${...}`, past its opening."""
        known = re.compile(_PARAMETER, re.A).match(self.text, self.at)
        if known is None:
            self._until_brace()
            return self.written(start)
        name, _, operator = known.groups()
        value = self.look_up(name)
        self.at = known.end()
        if operator == "}":
            return self.written(start) if value is None else BREAK.join(value)
        word = self._until_brace()
        if operator.endswith(("-", "=")):
            if value is not None and any(value):
                return BREAK.join(value)
            if operator.endswith("="):
                self.set(name, (word,))
            return word
        if operator.endswith("+") and value is not None:
            return word if any(value) else ""
        return self.written(start) if value is None else BREAK.join(value)

    def _until_brace(self) -> str:
        parts = []
        between = re.compile(_BRACED)
        while self.at < self.end:
            plain = between.match(self.text, self.at)
            if plain:
                parts.append(plain.group())
                self.at = plain.end()
                continue
            if self.text[self.at] == "}":
                self.at += 1
                return "".join(parts)
            parts.append(self._quoted())
        raise Unfinished("an expansion that nothing ends")

    def balanced(self, depth: int, paired: bool) -> bool:
        """Go past the bracket that closes so many. False, and not past it, where the last two shall stand
        side by side, as those of an arithmetic do, and do not.
        """
        between = re.compile(_NESTED)
        while self.at < self.end:
            plain = between.match(self.text, self.at)
            if plain:
                self.at = plain.end()
                continue
            char = self.text[self.at]
            if char == "(":
                self.shared.step()
                depth += 1
                self.at += 1
            elif char == ")":
                self.shared.step()
                depth -= 1
                self.at += 1
                if depth == 0:
                    return True
                if paired and depth == 1 and not self.text.startswith(")", self.at):
                    return False
            else:
                self._quoted()
        raise Unfinished("a bracket that nothing closes")

    def _quoted(self) -> str:
        """The text of one quote, escape or expansion, in a place where nothing else has a meaning."""
        self.shared.step()
        char = self.text[self.at]
        if char == "'" and self.in_double:
            self.at += 1
            return char
        if char == "'":
            return self.single()
        if char == '"':
            self.at += 1
            return self.double('"')
        if char == "\\":
            self.at += 2
            return self.text[self.at - 1 : self.at]
        return self.dollar() if char == "$" else self.ticks(False)

    def ticks(self, in_quotes: bool) -> str:
        """The value of a substitution in backticks, in which backticks are escaped."""
        start = self.at
        written = self._until("`", start + 1)
        if "\\" in written:
            written = re.sub(r'\\([`$"\\])' if in_quotes else r"\\([`$\\])", r"\1", written)
        value = self.inside(written)._substituted("")
        return self.written(start) if value is None else value

    def _substituted(self, closing: str) -> str | None:
        """The output of the commands up to there, None where it takes a shell to know it."""
        value = printed(self.within(closing))
        return None if value is None else value.rstrip("\n")

    def single(self) -> str:
        closing = self.text.find("'", self.at + 1)
        if closing < 0:
            raise Unfinished("a quote that nothing ends")
        value = self.text[self.at + 1 : closing]
        self.at = closing + 1
        return value

    def within(self, closing: str) -> list[Simple]:
        """The commands of a shell of its own, which leaves the variables of this one alone."""
        keep = self.variables, self.in_double
        self.in_double = False
        self.shared.enter()
        commands = self.commands(closing)
        self.shared.leave()
        self.variables, self.in_double = keep
        return commands

    def dollar_quote(self) -> str:
        return unescape(self._until("'", self.at + 2))

    def _until(self, closing: str, start: int) -> str:
        """The text from there up to a quote that no backslash stands before; go past it."""
        text, end = self.text, start - 1
        while True:
            end = text.find(closing, end + 1)
            if end < 0:
                raise Unfinished("a quote that nothing ends")
            self.shared.step()
            escapes = end
            while escapes > start and text[escapes - 1] == "\\":
                escapes -= 1
            if (end - escapes) % 2 == 0:
                break
        self.at = end + 1
        if text.count("\\", start, end) > MOST_ESCAPES:
            raise Unfinished("too many escapes")
        return text[start:end]
