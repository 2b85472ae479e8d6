"""What the readers of a shell line share: its words, its simple commands, and the bounds of the reading."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    # Each value that a variable may have, as the words of that value.
    Variables = dict[str, tuple[tuple[str, ...], ...]]

# A line beyond these is not taken apart; no line that somebody wrote comes near. Steps are the quotes, words
# and operators that are looked at, also again where one command stands inside another.
MOST_CHARACTERS = 400_000
MOST_READ = 1_200_000
MOST_STEPS = 8000
MOST_DEPTH = 32
MOST_VARIABLES = 60
MOST_VALUES = 8
MOST_WORDS = 200
MOST_ESCAPES = 2000

# A blank inside an argument, a dash there, where an expansion comes apart into several words, and around what
# is written of an expansion that nobody knows. They stand for themselves in no line: `parse` takes them out.
BLANK, DASH, BREAK, OPENING, CLOSING = OURS = "\ue000", "\ue001", "\ue002", "\ue003", "\ue004"
BLANKS = re.compile(r"\s+")


def assigned_name(text: str) -> str:
    """`X` of `X=...`, "" where a word is no assignment."""
    name, equals, _ = text.partition("=")
    return name if equals and name.isidentifier() and name.isascii() else ""


def bare(text: str) -> str:
    """A text without the marks around what is unknown."""
    return text.replace(OPENING, "").replace(CLOSING, "") if OPENING in text else text


def closed(text: str) -> str:
    """A text for a shell, in which the unknown is one word: whatever it holds, it is read by nobody here."""
    if OPENING not in text:
        return text
    unknown = re.compile("%s([^%s]*)%s" % (OPENING, CLOSING, CLOSING))
    return unknown.sub(lambda match: BLANK + re.sub(r"[^\w%s./:=-]+" % BLANK, "", match.group(1)), text)


class Unfinished(Exception):
    """The text cannot be taken apart with certainty."""


class Word:
    """One argument as the command gets it; what only a running shell knows stands in it as it is written.

    quoted: some of it was quoted; inner: the commands of a process substitution, where it is one.
    """

    __slots__ = ("inner", "quoted", "value")

    def __init__(self, value: str, quoted: bool = False, inner: list[Simple] | None = None) -> None:
        self.value = value
        self.quoted = quoted
        self.inner = inner

    @property
    def is_data(self) -> bool:
        """Whether it holds blanks: then it is a text, and not the word of a command."""
        return BLANK in self.value or BLANKS.search(self.value) is not None


class Simple:
    """A simple command: its words, the assignments before it, its redirections and where its input is from.

    upstream: the commands whose output it reads; stdin: the text that it reads, `asked` whether that was
    looked for; variables: those known to it.
    """

    __slots__ = ("asked", "assigned", "redirections", "stdin", "upstream", "variables", "words")

    def __init__(self, upstream: list[Simple] | None, variables: Variables) -> None:
        self.words: list[Word] = []
        self.assigned: list[tuple[str, str]] = []
        self.redirections: list[tuple[str, str]] = []
        self.stdin: str | None = None
        self.upstream = upstream
        self.asked = False
        self.variables = variables


class Shared:
    """What is found in one line, at whatever depth, and what may still be read.

    choice: which of several values a variable has in this reading; ways: how many values were come upon.
    """

    __slots__ = ("again", "choice", "depth", "found", "read", "steps", "ways")

    def __init__(self) -> None:
        self.found: list[Simple] = []
        self.read = 0
        self.steps = 0
        self.depth = 0
        self.choice = 0
        self.ways = 1
        self.again = False

    def step(self) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Unfinished("too much in one line")

    def take(self, characters: int) -> None:
        self.read += characters
        if self.read > MOST_READ:
            raise Unfinished("too long")

    def enter(self) -> None:
        self.depth += 1
        self.steps += 2
        if self.depth > MOST_DEPTH:
            raise Unfinished("too deep")

    def leave(self) -> None:
        self.depth -= 1
