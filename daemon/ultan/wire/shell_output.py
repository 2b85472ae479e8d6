"""What a command that merely prints would print: `echo 'rm x' | sh` runs what is printed."""

from __future__ import annotations

import re

from ultan.wire.shell_parts import BREAK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ultan.wire.shell_parts import Simple

# How many commands may hand a text on (`cat | tee x | sh`).
_PASSED_ON = 8
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,4}|.)", re.S)
_LETTERS = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "e": "\x1b",
    "E": "\x1b",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
}
_FORMAT = re.compile(r"%(?:[-+ 0#]*\d*(?:\.\d+)?([a-zA-Z])|%)")


def printed(commands: list[Simple], passed: int = 0) -> str | None:
    """The output of some commands in a row; None where one of them does more than print what stands here."""
    parts = []
    for at, simple in enumerate(commands):
        if at + 1 < len(commands) and commands[at + 1].upstream is not None:
            continue  # it is read by the next one
        text = _of_one(simple, passed)
        if text is None:
            return None
        parts.append(text)
    return "".join(parts) if parts else None


def stdin_of(simple: Simple, passed: int = 0) -> str | None:
    """The text that a command reads, None where nobody knows it."""
    if simple.stdin is not None or simple.upstream is None or passed > _PASSED_ON:
        return simple.stdin
    known = [printed([one], passed + 1) for one in simple.upstream]
    return "".join(text for text in known if text is not None) or None


def unescape(text: str) -> str:
    """The text of `$'...'`, or what `printf` and `echo -e` make of theirs."""
    return _ESCAPE.sub(_escaped, text) if "\\" in text else text


def _escaped(match: re.Match[str]) -> str:
    code = match.group(1)
    if code[0] in "xuU" and len(code) > 1:
        number = int(code[1:], 16)
    elif code[0] in "01234567":
        number = int(code, 8) & 0xFF
    else:
        return _LETTERS.get(code, code if code in "\\'\"?" else "\\" + code)
    return chr(number) if 0 < number < 0xD800 or 0xE003 < number < 0x110000 else ""


def _of_one(simple: Simple, passed: int) -> str | None:
    if not simple.words or any(operator.startswith(">") for operator, _ in simple.redirections):
        return None
    name = simple.words[0].value.rpartition("/")[2]
    values = [word.value for word in simple.words[1:]]
    if name == "echo":
        while values and re.fullmatch(r"-[neE]+", values[0]):
            values.pop(0)
        return unescape(" ".join(values)) + "\n"
    if name == "printf":
        if values[:1] == ["--"]:
            values.pop(0)
        return _formatted(values) if values and not values[0].startswith("-") else None
    if name == "tee" or (name == "cat" and all(value == "-" for value in values)):
        return stdin_of(simple, passed)
    return None


def _formatted(values: list[str]) -> str:
    """What `printf` makes of a format and its arguments; the format is used again while there are some."""
    form, rest = values[0], values[1:]
    fields = sum(1 for match in _FORMAT.finditer(form) if match.group(1))
    form = unescape(form)
    if not fields:
        return form.replace("%%", "%")
    rounds = max(1, min(-(-len(rest) // fields), 1000))
    given = iter(rest)
    return "".join(
        _FORMAT.sub(lambda match: next(given, "") if match.group(1) else "%", form) for _ in range(rounds)
    ).replace(BREAK, " ")
