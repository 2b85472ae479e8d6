"""The commands of a shell line: operators, pipes, compounds, redirections and here-documents taken apart."""

from __future__ import annotations

from ultan.wire.shell_compounds import Compounds
from ultan.wire.shell_expansion import NAME
from ultan.wire.shell_parts import MOST_VALUES, Simple, Unfinished, assigned_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ultan.wire.shell_parts import Word

_OPERATORS = (";;&", ";;", ";&", ";", "&&", "&", "||", "|&", "|")
_REDIRECTIONS = ("<<<", "<<-", "<<", "<>", "<&", "<", ">>", ">|", ">&", ">", "&>>", "&>")
# Parameters that nobody sets by name.
_NO_NAMES = "0123456789@*#?$!-"
_INDEX_CHARS = 100
_DIGITS = "0123456789"
_DECLARING = frozenset("export local declare typeset readonly".split())


class Grammar(Compounds):
    """Reads commands; each that is found is kept in `shared.found`, also those before a breach."""

    __slots__ = ()

    def commands(self, closing: str) -> list[Simple]:
        outer = self._found, self._begin, self._piped, self._open, self._perhaps, self.pending
        self._found, self._begin, self._piped = [], 0, None
        self._open, self._perhaps, self.pending = [], None, []
        while not self._ends(closing):
            pass
        if self.pending:
            raise Unfinished("a here-document that nothing ends")
        found = self._found
        self._found, self._begin, self._piped, self._open, self._perhaps, self.pending = outer
        return found

    def _ends(self, closing: str) -> bool:
        """Read one operator, keyword or command; whether the end was there instead."""
        self.blanks()
        if self.at >= self.end:
            if closing or self._open:
                raise Unfinished("something that nothing closes")
            return True
        self.shared.step()
        char = self.text[self.at]
        if char == "\n":
            self.at += 1
            self._here_documents()
            if self._begin < len(self._found):
                self._next(None)
                self._settle()
        elif self._open and self._open[-1].pattern and self._open[-1].kind == "case":
            self._case_pattern()
        elif char == ")":
            self.at += 1
            if self._open:
                self._close(("(",))
            elif closing:
                return True
            else:
                raise Unfinished("a bracket that nothing opened")
        elif char in ";&|" and not self.text.startswith("&>", self.at):
            self._operator()
        elif char == "(":
            self._bracket()
        else:
            keyword = self._keyword_here()
            if keyword:
                self._keyword(keyword)
            else:
                self._simple()
        return False

    def _operator(self) -> None:
        operator = next(one for one in _OPERATORS if self.text.startswith(one, self.at))
        self.at += len(operator)
        if operator in ("|", "|&"):
            self._next(self._found[self._begin :])
            return
        self._next(None)
        if operator not in ("&&", "||"):
            self._settle()
        elif self._perhaps is None:
            self._perhaps = self.variables
        if operator.startswith(";") and operator != ";" and self._open and self._open[-1].kind == "case":
            self._turn()
            self._open[-1].pattern = True

    def _simple(self) -> None:
        """A simple command; one for each value, where a variable in it has several."""
        start, shared = self.at, self.shared
        if shared.again:
            self._once()
            return
        shared.choice, shared.ways = 0, 1
        pending = len(self.pending)
        self._once()
        ways, end = shared.ways, self.at
        if ways > 1 and len(self.pending) == pending:
            shared.again = True
            for choice in range(1, min(ways, MOST_VALUES)):
                shared.choice, self.at = choice, start
                self._once()
            shared.again, shared.choice = False, 0
        self.at = end

    def _once(self) -> None:
        text, simple = self.text, Simple(self._piped, self.variables)
        before = self.variables
        while True:
            self.blanks()
            char = text[self.at : self.at + 1]
            if char in ("", "\n", ";", "|", ")") or (char == "&" and not text.startswith("&>", self.at)):
                break
            if char in "<>&" or char in _DIGITS:
                operator = self._redirects()
                if operator:
                    self._redirection(simple, operator)
                    continue
            if char == "(":
                if len(simple.words) != 1 or not self._brackets():
                    raise Unfinished("a bracket in a command")
                return
            if not simple.words:
                if self._assignment(simple):
                    simple.variables = self.variables
                    continue
                self.variables = before  # what is set for this command alone
            simple.words.extend(self.words())
        self._keep(simple)

    def _redirects(self) -> str:
        """Go past the operator of a redirection, and the descriptor before it; "" where none is here."""
        text, at = self.text, self.at
        while text[at : at + 1] in _DIGITS and at < self.end:
            at += 1
        found = next((one for one in _REDIRECTIONS if text.startswith(one, at)), "")
        if found in ("<", ">") and text.startswith("(", at + 1):
            return ""
        if found:
            self.at = at + len(found)
        return found

    def _keep(self, simple: Simple) -> None:
        if simple.words or simple.assigned or simple.redirections:
            self._found.append(simple)
            self.shared.found.append(simple)
        if simple.words and simple.words[0].value in _DECLARING:
            for word in simple.words[1:]:
                name = assigned_name(word.value)
                if name:
                    self.set(name, (word.value[len(name) + 1 :],))

    def _assignment(self, simple: Simple) -> bool:
        """Read `X=...`, `X+=...` or `X=(...)`; False where that is not here."""
        found = NAME.match(self.text, self.at)
        if found is None or found.group() in _NO_NAMES:
            return False
        name, at = found.group(), found.end()
        if self.text.startswith("[", at):
            at = self.text.find("]", at, at + _INDEX_CHARS) + 1
        added = self.text.startswith("+", at)
        if not at or not self.text.startswith("=", at + added):
            return False
        self.at = at + added + 1
        before = (self.look_up(name) or ()) if added else ()
        if self.text.startswith("(", self.at):
            self.at += 1
            words: list[Word] = []
            while True:
                self.gaps()
                if self.at >= self.end:
                    raise Unfinished("a list that nothing ends")
                if self.text[self.at] == ")":
                    break
                start = self.at
                words.extend(self.words())
                if self.at == start:
                    raise Unfinished("a list that nothing ends")
            self.at += 1
            value = before + tuple(word.value for word in words)
        else:
            value = ("".join(before) + self.one(),)
        simple.assigned.append((name, " ".join(value)))
        self.set(name, value)
        return True
