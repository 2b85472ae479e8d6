"""Redirections and here-documents: what a command reads and where it writes."""

from __future__ import annotations

from ultan.wire.shell_parts import BREAK, Unfinished
from ultan.wire.shell_words import Words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ultan.wire.shell_parts import Simple

# Operators that are the same to somebody who asks what is written or read.
_SAME = {">|": ">", "&>": ">", ">&": ">", "&>>": ">>", "<>": "<", "<&": "<"}


class Inputs(Words):
    """A reader of redirections."""

    __slots__ = ()

    def _redirection(self, simple: Simple, operator: str) -> None:
        self.blanks()
        if operator in ("<<", "<<-"):
            words = self.words(split=False)
            if not words:
                raise Unfinished("a here-document without an end")
            self.pending.append((simple, words[0].value, words[0].quoted, operator == "<<-"))
            return
        if operator == "<<<":
            simple.stdin = self.one().replace(BREAK, " ") + "\n"
            return
        start = self.at
        words = self.words(split=False)
        if self.at == start:
            raise Unfinished("a redirection to nowhere")
        if not words:
            return
        if operator == "<" and words[0].inner is not None:
            simple.upstream = words[0].inner
        elif not (operator in (">&", "<&") and (words[0].value.isdigit() or words[0].value == "-")):
            simple.redirections.append((_SAME.get(operator, operator), words[0].value))

    def _here_documents(self) -> None:
        """Read those that the last line announced."""
        waiting, self.pending = self.pending, []
        for simple, end, quoted, tabs in waiting:
            body = self._body(end, tabs)
            if not quoted:
                body = self.inside(body).double("").replace(BREAK, " ")
            simple.stdin = body

    def _body(self, end: str, tabs: bool) -> str:
        """The text up to the line that is the end alone; with `<<-` tabs before lines do not count."""
        text, begin = self.text, self.at
        place = begin
        while True:
            found = text.find(end, place)
            if found < 0:
                raise Unfinished("a here-document that nothing ends")
            self.shared.step()
            line, after = found, found + len(end)
            while tabs and line > begin and text[line - 1] == "\t":
                line -= 1
            if (line == begin or text[line - 1] == "\n") and text[after : after + 1] in ("", "\n"):
                body = text[begin:line]
                self.at = min(after + 1, self.end)
                return "\n".join(one.lstrip("\t") for one in body.split("\n")) if tabs else body
            place = found + 1
