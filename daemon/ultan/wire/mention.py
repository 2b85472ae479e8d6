"""Whether a pattern speaks about what a command does, and not about words that it merely mentions."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ultan.wire.shell import Command
    from ultan.wire.spellings import Spelling

_ROAMING = r"(\(\?[aimsux]+\))?\^?(?:\.[*+]\??)+"
_GROUP_MARKS = r"\(\?(?:P?<[^>=!]*>|<[=!]|P=|>)"


def matches(pattern: re.Pattern[str], command: Command) -> bool:
    """Whether a pattern is meant for a command.

    A match counts that begins in the command's name, or later where the command does not merely speak and its
    word is no text. A pattern that says what must not be there is held only against spellings that say all.
    """
    source = pattern.pattern
    exact = "(?!" in source or "(?<!" in source
    pattern = _anchored(pattern)
    for spelling in command.spellings:
        if (spelling.loose and exact) or not _names(source, spelling.needs):
            continue
        if _speaks_about(pattern, spelling):
            return True
    return False


def _anchored(pattern: re.Pattern[str]) -> re.Pattern[str]:
    """The pattern without a `.*` at its start, which would begin in the name whatever comes then."""
    if not pattern.pattern.startswith((".", "^.", "(?")):
        return pattern
    roaming = re.match(_ROAMING, pattern.pattern)
    if roaming is None:
        return pattern
    try:
        return re.compile((roaming.group(1) or "") + pattern.pattern[roaming.end() :], pattern.flags)
    except (re.error, ValueError, OverflowError):
        return pattern


def _names(source: str, operator: str) -> bool:
    """Whether a pattern speaks of a pipe or a redirection."""
    if not operator:
        return True
    if operator == "|":
        return "\\|" in source or "[|" in source
    return operator in re.sub(_GROUP_MARKS, "", source)


def _speaks_about(pattern: re.Pattern[str], spelling: Spelling) -> bool:
    text, at = spelling.text, 0
    while at <= len(text):
        match = pattern.search(text, at)
        if match is None:
            return False
        begin = match.start()
        while begin < match.end() - 1 and text[begin] == " ":
            begin += 1
        muted = next((end for start, end in spelling.muted if start <= begin < end), 0)
        if muted:
            at = muted
        elif _inside_name(begin, spelling):
            at = begin + 1
        else:
            return True
    return False


def _inside_name(begin: int, spelling: Spelling) -> bool:
    """Whether a match begins in the middle of a name's word: `npm` is not in `pnpm`."""
    text = spelling.text
    return any(start < begin < end for start, end in spelling.heads) and text[begin - 1 : begin + 1].isalnum()
