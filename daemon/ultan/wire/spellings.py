"""The ways in which a command may be written: a pattern for one of them is meant for all.

`git -C x push -uf` is a `git push -u -f`, `rm --recursive -f /` an `rm -rf /`. Where a command only speaks of
something, that is muted: no match begins there.
"""

from __future__ import annotations

import re
from itertools import permutations

from ultan.wire.shell_parts import BLANK, BLANKS, DASH, bare
from ultan.wire.shell_tools import (
    ALSO_COMMANDS,
    BUNDLING,
    FIRST_IS_TEXT,
    GLOBALS,
    MESSAGES,
    PROGRAMS,
    SPEAKERS,
    STATEMENTS,
    base_name,
    past_options,
    takes_next,
    without_globals,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from ultan.wire.shell_parts import Word

# Of a long text its start and its end are seen.
_TEXT_CHARS = 4000
_NOWHERE = frozenset("/dev/null /dev/stdout /dev/stderr /dev/tty".split())
_OPTION_DASH = r"(?<!\w)-+"
_MOST_LETTERS = 4
_RM_LONG = {"--recursive": "r", "--force": "f", "--dir": "d", "--verbose": "v", "--interactive": "i"}

# The text of one word, and from which character on it is muted.
if TYPE_CHECKING:
    Token = tuple[str, "int | None"]


class Spelling:
    """heads: where the names of its commands stand; muted: where no match begins, both as (start, end).

    loose: something was left out or spelled anew; needs: what a pattern must name to be meant for this one.
    """

    __slots__ = ("heads", "loose", "muted", "needs", "text")

    def __init__(self, tokens: Sequence[Token], heads: int = 1, loose: bool = False, needs: str = "") -> None:
        self.text = " ".join(text for text, _ in tokens)
        self.muted: list[tuple[int, int]] = []
        self.heads: list[tuple[int, int]] = []
        self.loose = loose
        self.needs = needs
        at = 0
        for place, (text, muted) in enumerate(tokens):
            if muted is not None:
                self.muted.append((at + muted, at + len(text)))
            if place < heads:
                self.heads.append((at, at + len(text)))
            at += len(text) + 1

    def then(self, other: Spelling) -> Spelling:
        """This one piped into another."""
        both = Spelling((), needs="|")
        move = len(self.text) + 3
        both.text = self.text + " | " + other.text
        both.heads = self.heads + [(start + move, end + move) for start, end in other.heads]
        both.muted = self.muted + [(start + move, end + move) for start, end in other.muted]
        return both


def spellings(
    words: Sequence[Word],
    taken: Collection[int],
    assigned: Sequence[tuple[str, str]],
    redirections: Sequence[tuple[str, str]],
    stdin: str | None,
) -> list[Spelling]:
    """All spellings of a command, as written first. taken: ids of the words of a command inside it."""
    set_before = [_assignment(name, value) for name, value in assigned]
    found = []
    if words:
        values = [word.value for word in words]
        tokens, kept = _tokens(words, values, taken)
        found = list(_of_command(tokens, kept, values))
        if set_before:
            found += [
                Spelling(set_before + one, len(set_before) + 1)
                for one in ([tokens], [tokens, [tokens[at] for at in kept]])[len(kept) < len(tokens)]
            ]
        found += _with_input(tokens, values, stdin)
    elif set_before:
        tokens = set_before
        found = [Spelling(tokens, len(tokens))]
    else:
        tokens = []
    for operator, target in redirections:
        if target not in _NOWHERE:
            written: list[Token] = [(operator, None), (_shown(target), None)]
            if tokens:
                found.append(Spelling(tokens + written, needs=operator[0]))
            found.append(Spelling(written))
    unique: dict[tuple[str, str], Spelling] = {}
    for spelling in found or [Spelling(())]:
        unique.setdefault((spelling.text, spelling.needs), spelling)
    return list(unique.values())


def as_written(words: Sequence[Word]) -> Spelling:
    """A command with nothing left out."""
    return Spelling(_tokens(words, [word.value for word in words], ())[0])


def _shown(value: str) -> str:
    """A word as patterns see it. One with blanks is a text: no pattern of several words matches inside it,
    and in it nothing is an option.
    """
    value = bare(value)
    if len(value) > _TEXT_CHARS:
        value = value[: _TEXT_CHARS // 2] + "…" + value[-_TEXT_CHARS // 2 :]
    if BLANK not in value and not BLANKS.search(value):
        return value or '""'
    start = _value_at(value)
    text = BLANKS.sub(BLANK, value[start:])
    return value[:start] + re.sub(_OPTION_DASH, lambda match: DASH * len(match.group()), text)


def _value_at(word: str) -> int:
    """Where the value of `--option=value` begins; 0 where a word is none."""
    option, equals, _ = word.partition("=")
    return len(option) + 1 if equals and _is_long(option) else 0


def _is_long(word: str) -> bool:
    """Whether a word is the name of an option of more than one letter."""
    name = word[2:] if word.startswith("--") else word[1:]
    return word[:1] == "-" and len(name) > 1 and name[0].isalpha() and not BLANKS.search(name)


def _is_short(word: str) -> bool:
    """Whether a word is one letter with a dash, or a few."""
    return 2 <= len(word) <= _MOST_LETTERS + 1 and word[0] == "-" and word[1:].isalpha()


def _assignment(name: str, value: str) -> Token:
    is_text = BLANKS.search(value) is not None
    return name + "=" + (_shown(value) if value else ""), len(name) + 1 if is_text else None


def _tokens(
    words: Sequence[Word], values: Sequence[str], taken: Collection[int]
) -> tuple[list[Token], list[int]]:
    """The tokens of a command, and the places of those that are no options of the tool itself."""
    kept = without_globals(values)
    tokens: list[Token] = []
    for word in words:
        muted = _value_at(word.value) if word.is_data else None
        tokens.append((_shown(word.value), 0 if id(word) in taken else muted))
    name = base_name(values[0])
    tokens[0] = (_shown(name), None)
    for at, start in _muted(name, values, kept):
        tokens[at] = (tokens[at][0], start)
    return tokens, kept


def _muted(name: str, values: Sequence[str], kept: Sequence[int]) -> Iterator[tuple[int, int]]:
    """(place, from which character) of what a command only speaks of, or names in another sense."""
    names = [name] + ([name + " " + values[kept[1]]] if len(kept) > 1 else [])
    if (name in GLOBALS or name in BUNDLING) and "--help" in values:
        if "--" not in values or values.index("--help") < values.index("--"):
            yield from ((at, 0) for at in range(len(values)))
        return
    if names[-1].replace(" ", "-") in SPEAKERS or name in SPEAKERS or values[:2] == ["command", "-v"]:
        yield from ((at, 0) for at in range(1, len(values)))
        return
    if name in GLOBALS:
        yield from ((at, 0) for at in kept[1:3] if values[at] in ALSO_COMMANDS)
    for one in names:
        if one in MESSAGES:
            yield from _messages(values, MESSAGES[one].split())
        if one in FIRST_IS_TEXT:
            valued, giving = FIRST_IS_TEXT[one]
            start = kept[1] + 1 if " " in one else 1
            if not any(_gives(value, giving.split()) for value in values[start:]):
                at = past_options(values, start, valued.split())
                if at < len(values):
                    yield at, 0


def _gives(value: str, options: Sequence[str]) -> bool:
    return value.partition("=")[0] in options or (len(value) > 2 and value[0] == "-" and value[:2] in options)


def _messages(values: Sequence[str], options: Sequence[str]) -> Iterator[tuple[int, int]]:
    for at, value in enumerate(values):
        option, equals, _ = value.partition("=")
        if equals and option in options:
            yield at, len(option) + 1
        elif takes_next(value, options):
            if at + 1 < len(values):
                yield at + 1, 0
        elif len(value) > 2 and value[:2] in options and value[1] != "-":
            yield at, 2


def _of_command(tokens: list[Token], kept: list[int], values: Sequence[str]) -> Iterator[Spelling]:
    yield Spelling(tokens)
    name = tokens[0][0]
    if values[0] != name:
        yield Spelling([(_shown(values[0]), tokens[0][1]), *tokens[1:]])
    plain = tokens
    if len(kept) < len(tokens):
        plain = [tokens[at] for at in kept]
        away = set(range(len(tokens))).difference(kept)
        yield Spelling(plain, loose=True)
        yield Spelling(plain + [tokens[at] for at in sorted(away)])
        for other in _respelled("", tokens):
            yield Spelling(other, loose=True)
    if name.rstrip("0123456789.") == "pip" != name:
        yield Spelling([("pip", tokens[0][1]), *plain[1:]], loose=True)
    for other in _respelled(name, plain):
        if other != plain:
            yield Spelling(other, loose=True)


def _respelled(name: str, tokens: list[Token]) -> Iterator[list[Token]]:
    """The same options in other forms."""
    if any(text.startswith("-") and muted != 0 for text, muted in tokens):
        if name in BUNDLING:
            yield from _bundles(tokens)
        yield _split_values(tokens)
        yield _joined_values(tokens, name in BUNDLING)
    if name == "rm":
        yield from _removals(tokens)


def _split_values(tokens: list[Token]) -> list[Token]:
    found: list[Token] = []
    for text, muted in tokens:
        if muted is None and _value_at(text):
            option, _, value = text.partition("=")
            found += [(option, None), (value, None)]
        else:
            found.append((text, muted))
    return found


def _joined_values(tokens: list[Token], bundling: bool) -> list[Token]:
    found: list[Token] = []
    for text, muted in tokens:
        before = found[-1] if found else ("", None)
        if (
            muted is None
            and before[1] is None
            and not text.startswith("-")
            and _is_long(before[0])
            and "=" not in before[0]
            and (not bundling or before[0].startswith("--"))
        ):
            found[-1] = (before[0] + "=" + text, None)
        else:
            found.append((text, muted))
    return found


def _bundles(tokens: list[Token]) -> Iterator[list[Token]]:
    """Letters with one dash together and apart, and few of them in every order."""
    merged: list[Token] = []
    apart: list[Token] = []
    for text, muted in tokens:
        short = muted is None and _is_short(text)
        if short and merged and merged[-1][1] is None and _is_short(merged[-1][0]):
            merged[-1] = (merged[-1][0] + text[1:], None)
        else:
            merged.append((text, muted))
        apart += [("-" + letter, None) for letter in text[1:]] if short else [(text, muted)]
    yield merged
    yield apart
    for at, (text, muted) in enumerate(merged):
        if muted is None and 3 <= len(text) <= 4 and _is_short(text):
            for order in list(permutations(text[1:]))[1:]:
                yield [*merged[:at], ("-" + "".join(order), None), *merged[at + 1 :]]
            return


def _removals(tokens: list[Token]) -> Iterator[list[Token]]:
    """`rm` with nothing but what is removed, and how: its other options change nothing about that."""
    letters: set[str] = set()
    operands: list[Token] = []
    options = True
    for text, muted in tokens[1:]:
        if options and muted is None and text.startswith("-") and len(text) > 1:
            options = text != "--"
            letters.update(_RM_LONG.get(text, "") if text.startswith("--") else text[1:].replace("R", "r"))
        else:
            operands.append((text, muted))
    for flags in (("-rf",), ("-fr",), ("-r", "-f"), ("-r",), ("-f",)):
        if letters.issuperset("".join(flags).replace("-", "")):
            yield [tokens[0], *((flag, None) for flag in flags), *operands]


def _with_input(tokens: list[Token], values: Sequence[str], stdin: str | None) -> Iterator[Spelling]:
    """The program that is handed to a database, in the open; that of a language as a text."""
    name = tokens[0][0]
    if name in STATEMENTS:
        open_: list[Token] = [(" ".join(bare(value).split()) or '""', None) for value in values[1:]]
        said = " ".join(bare(stdin or "")[:_TEXT_CHARS].split())
        yield Spelling([tokens[0], *open_, *([(said, None)] if said else [])])
    elif stdin and name in PROGRAMS:
        yield Spelling([*tokens, (_shown(stdin), 0)])
