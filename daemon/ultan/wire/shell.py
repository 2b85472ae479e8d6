"""What a shell line runs: its simple commands, also those inside others, as patterns may see them.

Nothing is run and nothing looked up, so some things stay hidden; docs/stop-signal.md lists them.
"""

from __future__ import annotations

from ultan.wire.mention import matches
from ultan.wire.shell_grammar import Grammar
from ultan.wire.shell_output import stdin_of
from ultan.wire.shell_parts import MOST_CHARACTERS, MOST_STEPS, OURS, Shared, Unfinished, bare, closed
from ultan.wire.shell_tools import base_name
from ultan.wire.spellings import Spelling, as_written, spellings
from ultan.wire.wrappers import inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ultan.wire.shell_parts import Simple, Variables, Word
    from ultan.wire.wrappers import Inner

__all__ = ["Command", "Line", "matches", "parse"]

_MOST_PIPED = 6
_FOR_COMMANDS = 1000


class Command:
    """A simple command. name: without its folder, "" for assignments alone and for a pipe; words: its name
    and arguments as it gets them; writes: the files that its output is redirected to.
    """

    __slots__ = (
        "_assigned",
        "_made",
        "_redirections",
        "_stdin",
        "_taken",
        "_words",
        "name",
        "words",
        "writes",
    )

    def __init__(
        self,
        words: Sequence[Word] = (),
        assigned: Sequence[tuple[str, str]] = (),
        redirections: Sequence[tuple[str, str]] = (),
        stdin: str | None = None,
    ) -> None:
        self._words = words
        self._assigned = assigned
        self._redirections = redirections
        self._stdin = stdin
        self._taken: set[int] = set()
        self._made: list[Spelling] | None = None
        self.words = [bare(word.value) for word in words]
        self.name = base_name(self.words[0]) if words else ""
        self.writes = [bare(target) for operator, target in redirections if operator.startswith(">")]

    @property
    def spellings(self) -> list[Spelling]:
        """The ways in which a pattern may see it, at least one."""
        if self._made is None:
            self._made = spellings(self._words, self._taken, self._assigned, self._redirections, self._stdin)
        return self._made

    @property
    def texts(self) -> list[str]:
        """The texts of its spellings, as written first."""
        return list(dict.fromkeys(spelling.text for spelling in self.spellings))


class Line:
    """commands: all that a line runs; whole: whether that is certain. Otherwise the commands are those before
    the place where it could not be taken apart, or some of them.
    """

    __slots__ = ("commands", "whole")

    def __init__(self, commands: list[Command], whole: bool) -> None:
        self.commands = commands
        self.whole = whole


def parse(line: str) -> Line:
    """Take a line apart. Never raises; the time is in proportion to the line's length, and bounded."""
    if len(line) > MOST_CHARACTERS:
        return Line([], False)
    reader = _Reader()
    line = line.replace("\r\n", "\n")
    for mark in OURS:
        line = line.replace(mark, "?")
    reader.read(line, {}, None)
    return Line(reader.commands, reader.whole)


class _Reader:
    def __init__(self) -> None:
        self.shared = Shared()
        self.commands: list[Command] = []
        self.whole = True
        # Each simple command, and the words of the innermost one inside it.
        self.known: dict[int, tuple[Command, Sequence[Word]]] = {}

    def read(self, text: str, variables: Variables, stdin: str | None) -> None:
        """Take a text apart that a shell reads. stdin: what its commands read."""
        shared = self.shared
        depth, before = shared.depth, len(shared.found)
        try:
            shared.enter()
            Grammar(closed(text), shared, variables).commands("")
        except (Unfinished, RecursionError):
            self.whole = False
            if not depth:  # what was found shall still be looked at
                shared.steps = min(shared.steps, MOST_STEPS - _FOR_COMMANDS)
        found = shared.found[before:]
        del shared.found[before:]
        read = {id(simple.upstream[-1]) for simple in found if simple.upstream}
        for simple in found:
            shared.depth = depth + 1
            shared.again = False
            try:
                self.simple(simple, stdin)
                if simple.upstream and id(simple) not in read:
                    self.pipe(simple)
            except (Unfinished, RecursionError):
                self.whole = False
        shared.depth = depth

    def simple(self, simple: Simple, stdin: str | None) -> None:
        if simple.stdin is not None or simple.upstream is not None:
            stdin = stdin_of(simple)
        if not simple.words:
            self.commands.append(Command((), simple.assigned, simple.redirections))
            return
        self.known[id(simple)] = self.command(
            simple.words, simple.assigned, simple.redirections, stdin, simple.variables
        )

    def command(
        self,
        words: Sequence[Word],
        assigned: Sequence[tuple[str, str]],
        redirections: Sequence[tuple[str, str]],
        stdin: str | None,
        variables: Variables,
    ) -> tuple[Command, Sequence[Word]]:
        """Note a command and those inside it; it, and the words of the innermost one."""
        self.shared.step()
        self.shared.enter()
        command = Command(words, assigned, redirections, stdin)
        self.commands.append(command)
        innermost = words
        for inner in inside(words, stdin):
            command._taken.update(id(word) for word in inner.taken)
            reads = stdin if inner.reads else None
            if inner.script is not None:
                self.read(inner.script, _with_parameters(variables, inner), reads)
            elif inner.words:
                innermost = self.command(inner.words, [*assigned, *inner.assigned], (), reads, variables)[1]
        self.shared.leave()
        return command, innermost

    def pipe(self, simple: Simple) -> None:
        """Note a pipe as a whole, for patterns such as `curl .* \\| sh`."""
        chain = [simple]
        while chain[0].upstream and len(chain) < _MOST_PIPED:
            chain.insert(0, chain[0].upstream[-1])
        known = [self.known[id(one)] for one in chain if id(one) in self.known]
        if len(known) < 2:
            return
        outer, inner = known[0][0].spellings[0], as_written(known[0][1])
        for command, innermost in known[1:]:
            outer, inner = outer.then(command.spellings[0]), inner.then(as_written(innermost))
        self.commands.append(Command())
        self.commands[-1]._made = [outer] if outer.text == inner.text else [outer, inner]


def _with_parameters(variables: Variables, inner: Inner) -> Variables:
    if not inner.parameters:
        return variables
    numbered = {str(at): ((value,),) for at, value in enumerate(inner.parameters)}
    everything = (tuple(inner.parameters[1:]),)
    return {**variables, **numbered, "@": everything, "*": everything}
