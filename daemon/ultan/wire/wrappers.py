"""Commands that run another one: which of their words are that, or which text is a line of its own."""

from __future__ import annotations

import re

from ultan.wire.shell_output import printed
from ultan.wire.shell_parts import Word, assigned_name
from ultan.wire.shell_tools import base_name, past_options, takes_next, without_globals
from ultan.wire.wrapper_tables import (
    PACKAGES,
    PARALLEL,
    RUNNERS,
    SCRIPT_OPERANDS,
    SCRIPT_OPTIONS,
    SHELLS,
    WORDS_AFTER,
    XARGS,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SHELL_VALUES = ("-o", "+o", "-O", "+O", "--rcfile", "--init-file")
# Of what is handed to `xargs` or `parallel` so much is looked at.
_MOST_LINES, _MOST_HANDED, _HANDED_CHARS = 4, 50, 2000


class Inner:
    """A command inside another: its words, or a line (`script`) with its parameters `$0`, `$1`, ...

    taken: the words of the outer command that belong to it; reads: whether its input is the outer one's.
    """

    __slots__ = ("assigned", "parameters", "reads", "script", "taken", "words")

    def __init__(self, taken: Sequence[Word], words: Sequence[Word] = (), script: str | None = None) -> None:
        self.taken = list(taken)
        self.words = list(words)
        self.script = script
        self.parameters: list[str] = []
        self.assigned: list[tuple[str, str]] = []
        self.reads = True


def inside(words: Sequence[Word], stdin: str | None) -> Iterator[Inner]:
    """The commands that a command runs. stdin: the text that it reads, None where nobody knows it."""
    values = [word.value for word in words]
    name = base_name(values[0])
    if name in SHELLS:
        yield from _shell(words, values, stdin)
    elif name == "env":
        yield from _env(words, values)
    elif name == "xargs":
        yield from _xargs(words, values, stdin)
    elif name in ("parallel", "sem"):
        yield from _parallel(words, values, stdin)
    elif name in (".", "source"):
        yield from _file(words, 1, stdin)
    elif name == "trap" and len(values) > 2 and not values[1].startswith("-"):
        yield Inner(words[1:2], script=values[1])
    elif name in ("at", "batch") and stdin:
        yield _read(stdin)
    elif name.rstrip("0123456789.w") in ("python", "pypy"):
        at = past_options(values, 1, ("-W", "-X", "-m"))
        if at > 2 and "-m" in values[1:at]:
            at = values.index("-m") + 1
            yield Inner(words[at:], words[at:])
    else:
        yield from _by_table(words, values, stdin)


def _by_table(words: Sequence[Word], values: list[str], stdin: str | None) -> Iterator[Inner]:
    kept = without_globals(values)
    names = [base_name(values[0])]
    for at in kept[1:3]:
        names.append(names[-1] + " " + values[at])
    known = [(name, count) for count, name in enumerate(names, 1)]
    for name, count in reversed(known):
        rest = [words[at] for at in kept[count:]]
        if name in WORDS_AFTER:
            yield from _after_option(rest, WORDS_AFTER[name].split(), "find" in name)
        if name in SCRIPT_OPTIONS:
            yield from _of_option(rest, SCRIPT_OPTIONS[name].split())
        if name in SCRIPT_OPERANDS:
            yield from _lines(rest, SCRIPT_OPERANDS[name].split(), stdin if name == "ssh" else None)
            return
        if name in RUNNERS:
            yield from _run(name, rest, RUNNERS[name].split())
            return


def _run(name: str, words: list[Word], known: list[str]) -> Iterator[Inner]:
    """A command after the options and operands of its runner."""
    values = [word.value for word in words]
    if name == "command" and values[:1] in (["-v"], ["-V"], ["-pv"]):
        return
    if known[0] == "--":
        at = values.index("--") + 1 if "--" in values else len(values)
    else:
        at = past_options(values, 0, known[1:])
        module = next((one for one in range(at) if values[one] in ("-m", "--module")), -1)
        if module >= 0 and name in ("uv run", "coverage run"):
            at = module + 1
        elif int(known[0]):
            entry = values.index("--entrypoint") + 1 if "--entrypoint" in values[:at] else 0
            at = min(at + int(known[0]), len(words))
            if entry:
                yield Inner(words[at:], [words[entry], *words[at:]])
                return
            at = past_options(values, at, known[1:])
    assigned = []
    while at < len(words) and assigned_name(values[at]):
        key, _, value = values[at].partition("=")
        assigned.append((key, value))
        at += 1
    rest = words[at:]
    if not rest:
        return
    inner = Inner(rest, rest)
    if name.split()[0] in PACKAGES and "@" in rest[0].value[1:]:
        inner.words[0] = Word(rest[0].value[0] + rest[0].value[1:].partition("@")[0])
    inner.assigned = assigned
    yield inner


def _after_option(words: list[Word], options: list[str], ends: bool) -> Iterator[Inner]:
    at = 0
    while at < len(words):
        at += 1
        if words[at - 1].value not in options:
            continue
        end = at
        while end < len(words) and not (ends and words[end].value in (";", "+")):
            end += 1
        if end > at:
            yield Inner(words[at:end], words[at:end])
        at = end


def _of_option(words: list[Word], options: list[str]) -> Iterator[Inner]:
    for at, word in enumerate(words):
        option, equals, value = word.value.partition("=")
        if equals and option in options:
            yield Inner([word], script=value)
        elif takes_next(word.value, options) and at + 1 < len(words):
            yield Inner([words[at + 1]], script=words[at + 1].value)


def _lines(words: list[Word], known: list[str], stdin: str | None) -> Iterator[Inner]:
    """Operands that are lines of a shell: each (`*`), or all of them together."""
    values = [word.value for word in words]
    at = past_options(values, 0, known[1:])
    if known[0] == "*":
        for word in words[at:]:
            if not word.value.startswith("-"):
                yield Inner([word], script=word.value)
        return
    at = past_options(values, at + int(known[0]), known[1:])
    if at < len(words):
        yield Inner(words[at:], script=" ".join(values[at:]))
    elif stdin:
        yield _read(stdin)


def _shell(words: Sequence[Word], values: list[str], stdin: str | None) -> Iterator[Inner]:
    at, line, reads = 1, False, False
    while at < len(values) and len(values[at]) > 1 and values[at][0] in "-+":
        value = values[at]
        at += 1
        if value == "--":
            break
        if not value.startswith("--"):
            line = line or (value[0] == "-" and "c" in value)
            reads = reads or "s" in value
        if value in _SHELL_VALUES or (not value.startswith("--") and value.endswith("o")):
            at += 1
    if line:
        if at < len(words):
            inner = Inner(words[at:], script=values[at])
            inner.parameters = values[at + 1 :]
            yield inner
    elif reads or at >= len(words):
        if stdin:
            yield _read(stdin)
    else:
        yield from _file(words, at, stdin)


def _file(words: Sequence[Word], at: int, stdin: str | None) -> Iterator[Inner]:
    """What a shell reads where it is given a file: known only where that is its input or another's output."""
    if at >= len(words):
        return
    word = words[at]
    if word.inner is not None:
        text = printed(word.inner)
        if text:
            yield Inner((), script=text)
    elif stdin and word.value in ("-", "/dev/stdin", "/dev/fd/0"):
        yield _read(stdin)


def _read(text: str) -> Inner:
    """A line that is read: nothing of it is left to its commands."""
    inner = Inner((), script=text)
    inner.reads = False
    return inner


def _env(words: Sequence[Word], values: list[str]) -> Iterator[Inner]:
    at, assigned = 1, []
    while at < len(values):
        value = values[at]
        name = assigned_name(value)
        if name:
            assigned.append((name, value[len(name) + 1 :]))
        elif value in ("-u", "-C", "-P", "--unset", "--chdir"):
            at += 1
        elif value.startswith("--split-string=") or re.match(r"-[iv]*S.", value):
            value = value.partition("=" if value.startswith("--") else "S")[2]
            yield Inner(words[at:], script=" ".join([value, *values[at + 1 :]]))
            return
        elif value == "--split-string" or re.match(r"-[iv]*S\Z", value):
            yield Inner(words[at + 1 :], script=" ".join(values[at + 1 :]))
            return
        elif not value.startswith("-"):
            break
        at += 1
    if at < len(words):
        inner = Inner(words[at:], words[at:])
        inner.assigned = assigned
        yield inner


def _xargs(words: Sequence[Word], values: list[str], stdin: str | None) -> Iterator[Inner]:
    at = past_options(values, 1, XARGS.split())
    given, rest = values[1:at], words[at:]
    if not rest:
        return
    mark = next((given[i + 1] for i, one in enumerate(given[:-1]) if one in ("-I", "-J")), "")
    mark = mark or next((one[2:] for one in given if one.startswith("-I") and len(one) > 2), "")
    if not mark and any(one in ("-i", "--replace") for one in given):
        mark = "{}"
    handed: list[list[Word]] = [list(rest)]
    if stdin and mark:
        lines = [one for one in stdin.split("\n") if len(one) <= _HANDED_CHARS][:_MOST_LINES]
        handed = [[_handed(word, mark, one) for word in rest] for one in lines if one]
    elif stdin:
        handed = [[*rest, *(Word(one) for one in stdin.split()[:_MOST_HANDED])]]
    for one_call in handed:
        inner = Inner(rest, one_call)
        inner.reads = False
        yield inner


def _handed(word: Word, mark: str, line: str) -> Word:
    if mark not in word.value or len(word.value) > _HANDED_CHARS:
        return word
    return Word(word.value.replace(mark, line, _MOST_HANDED))


def _parallel(words: Sequence[Word], values: list[str], stdin: str | None) -> Iterator[Inner]:
    at = past_options(values, 1, PARALLEL.split())
    marks = [place for place, value in enumerate(values) if value in (":::", ":::+", "::::")]
    end = marks[0] if marks else len(values)
    command = " ".join(values[at:end])
    lines = [value for value in values[end + 1 :] if not value.startswith(":::")] if marks else []
    if not marks and stdin:
        lines = stdin.split("\n")
    for line in lines[:_MOST_LINES] if command else lines[:_MOST_HANDED]:
        whole = command.replace("{}", line, 1) if "{}" in command else (command + " " + line)
        yield Inner(words[at:], script=whole.strip())
    if command and not lines:
        yield Inner(words[at:end], script=command)
