"""What a command that merely prints would print: `echo 'rm x' | sh` runs what is printed."""

from __future__ import annotations

import re

from ultan.wire.shell_parts import BREAK, MOST_ESCAPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ultan.wire.shell_parts import Simple

# How many commands may hand a text on (`cat | tee x | sh`).
_PASSED_ON = 8
_MOST_FORMATTED, _MOST_PRINTED = 20_000, 200_000
_ESCAPE = r"(?s)\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,4}|.)"
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
_FORMAT = r"%(?:[-+ 0#]*\d*(?:\.\d+)?([a-zA-Z])|%)"


def printed(commands: list[Simple]) -> str | None:
    """The output of some commands in a row; None where one of them does more than print what stands here."""
    outputs = _outputs(commands, 0)
    return "".join(text for text in outputs if text) if outputs and None not in outputs else None


def stdin_of(simple: Simple, passed: int = 0) -> str | None:
    """The text that a command reads, None where nobody knows it; what is piped to it is looked for once."""
    if simple.stdin is None and simple.upstream is not None and not simple.asked and passed <= _PASSED_ON:
        simple.asked = True
        text = "".join(text for text in _outputs(simple.upstream, passed + 1) if text)
        simple.stdin = text if 0 < len(text) <= _MOST_PRINTED else None
    return simple.stdin


def _outputs(commands: list[Simple], passed: int) -> list[str | None]:
    """What each command prints, None for unknown; without those whose output another one reads."""
    read = {id(one) for simple in commands for one in simple.upstream or ()}
    return [_of_one(simple, passed) for simple in commands if id(simple) not in read]


def unescape(text: str) -> str:
    """The text of `$'...'`, or what `printf` and `echo -e` make of theirs."""
    count = text.count("\\")
    if count > MOST_ESCAPES:  # so many are ends of lines
        return text.replace("\\n", "\n")
    return re.sub(_ESCAPE, _escaped, text) if count else text


def _escaped(match: re.Match[str]) -> str:
    code = match.group(1)
    if code[0] in "xuU" and len(code) > 1:
        number = int(code[1:], 16)
    elif code[0] in "01234567":
        number = int(code, 8) & 0xFF
    else:
        return _LETTERS.get(code, code if code in "\\'\"?" else "\\" + code)
    return chr(number) if 0 < number < 0xD800 or 0xE004 < number < 0x110000 else ""


def _of_one(simple: Simple, passed: int) -> str | None:
    if not simple.words or any(operator.startswith(">") for operator, _ in simple.redirections):
        return None
    name = simple.words[0].value.rpartition("/")[2]
    values = [word.value for word in simple.words[1:]]
    if name == "echo":
        coded = False
        while values and re.fullmatch(r"-[neE]+", values[0]):
            coded = "e" in values.pop(0) or coded
        text = " ".join(values)
        # Some shells take `\n` for the end of a line unasked.
        return (unescape(text) if coded else text.replace("\\n", "\n")) + "\n"
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
    fields = sum(1 for match in re.finditer(_FORMAT, form) if match.group(1))
    form = unescape(form)
    if not fields:
        return form.replace("%%", "%")
    rounds = max(1, min(-(-len(rest) // fields), _MOST_FORMATTED // len(form)))
    given = iter(rest)
    return "".join(
        re.sub(_FORMAT, lambda match: next(given, "") if match.group(1) else "%", form) for _ in range(rounds)
    ).replace(BREAK, " ")
