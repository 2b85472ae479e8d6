"""The words of a shell line, as a command gets them."""

from __future__ import annotations

import re

from ultan.wire.shell_expansion import Expansions
from ultan.wire.shell_parts import BLANKS, BREAK, OPENING, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ultan.wire.shell_parts import Simple

_MOST_BRACED, _BRACED_CHARS = 32, 500
_PLAIN = re.compile(r"""[^ \t\n'"\\$`|&;()<>]+""")
_GAP = re.compile(r"(?:[ \t]+|\\\n|#[^\n]*)*")
_GAPS = re.compile(r"(?:[ \t\n;]+|\\\n|#[^\n]*)*")
_BRACES = r"(?<!\$)\{([^{}]*,[^{}]*)\}"


class Words(Expansions):
    """A reader of words."""

    __slots__ = ()

    def blanks(self) -> None:
        """Go past blanks and a comment."""
        gap = _GAP.match(self.text, self.at)
        self.at = gap.end() if gap else self.at

    def gaps(self) -> None:
        """Go past blanks, comments and ends of lines."""
        gaps = _GAPS.match(self.text, self.at)
        self.at = gaps.end() if gaps else self.at

    def words(self, split: bool = True) -> list[Word]:
        """The word here; several where it expands to several, none where to nothing. Raises Unfinished."""
        text, parts, quoted, inner = self.text, [], False, None
        self.shared.step()
        while self.at < self.end:
            plain = _PLAIN.match(text, self.at)
            if plain:
                parts.append(plain.group())
                self.at = plain.end()
                continue
            char = text[self.at]
            if char in " \t\n;&|)":
                break
            self.shared.step()
            if char in "<>":
                if not text.startswith("(", self.at + 1):
                    break
                begin = self.at
                inner = self._process()
                parts.append(self.written(begin))
            elif char == "(":
                # `!(a|b)` and the like are names of files.
                if not parts or parts[-1][-1:] not in ("!", "@", "?", "*", "+", "="):
                    break
                begin = self.at
                self.at += 1
                self.balanced(1, False)
                parts.append(self.written(begin))
            elif char == "'":
                parts.append(self.single())
                quoted = True
            elif char == '"':
                self.at += 1
                parts.append(self.double('"'))
                quoted = True
            elif char == "\\":
                after = text[self.at + 1 : self.at + 2]
                quoted = quoted or after != "\n"
                parts.append("" if after == "\n" else after or "\\")
                self.at += 2
            elif char == "$" and text.startswith("$'", self.at):
                parts.append(self.dollar_quote())
                quoted = True
            elif char == "$" and text.startswith('$"', self.at):
                self.at += 1
            else:
                value = self.dollar() if char == "$" else self.ticks(False)
                parts.append(BLANKS.sub(BREAK, value) if split else value)
        self.at = min(self.at, self.end)
        return _expanded("".join(parts), quoted, inner)

    def one(self) -> str:
        """The word here as one text, as in an assignment; "" where there is none."""
        return " ".join(word.value for word in self.words(split=False))

    def _process(self) -> list[Simple]:
        self.at += 2
        return self.within(")")


def _expanded(value: str, quoted: bool, inner: list[Simple] | None) -> list[Word]:
    """The words that a value comes apart into: by blanks in what was expanded, by `{a,b}` outside quotes."""
    if BREAK in value:
        return [Word(part, quoted) for part in value.split(BREAK) if part]
    if not value and not quoted:
        return []
    if not quoted and "{" in value and "," in value and len(value) <= _BRACED_CHARS and OPENING not in value:
        waiting, done = [value], list[str]()
        while waiting and len(waiting) + len(done) <= _MOST_BRACED:
            part = waiting.pop(0)
            braces = re.search(_BRACES, part)
            if braces is None:
                done.append(part)
            else:
                before, after = part[: braces.start()], part[braces.end() :]
                waiting[:0] = [before + choice + after for choice in braces.group(1).split(",")]
        return [Word(part) for part in done + waiting if part]
    return [Word(value, quoted, inner)]
