"""Whether a pattern of an entry may be held against commands, and what a text must hold for it to match.

A hook has milliseconds, and a pattern that backtracks without end would take them all. So patterns are
checked here, when they are written and when triggers.json is made, and not in the hook.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

from ultan.library.ambiguity import TooComplex, is_exponential

# The parser of `re` itself, so that a pattern is read exactly as it will run.
_parser: Any = import_module("re._parser")

LONGEST = 1000
# What a literal needs at least to say anything: single characters occur everywhere.
SHORTEST_LITERAL = 2
# Syntax that came with Python 3.11: the hooks run on 3.9.
_NEWER = ("ATOMIC_GROUP", "POSSESSIVE_REPEAT")
_EVERYWHERE = "it matches the empty text, and so everything"


@dataclass(frozen=True, slots=True)
class Checked:
    """refused: why the pattern is not held against anything, "" where it is. literals: lower-case texts of
    which one at least occurs in whatever the pattern matches; empty where there is none.
    """

    refused: str = ""
    literals: tuple[str, ...] = ()


@lru_cache(maxsize=4096)
def check(pattern: str) -> Checked:
    """Never raises. A library's patterns are checked again with each change of any of its pages."""
    if len(pattern) > LONGEST:
        return Checked(f"it has more than {LONGEST} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled = re.compile(pattern)
            tree = _parser.parse(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return Checked(f"it is not valid: {error}")
    newer = _newer(tree)
    if newer:
        return Checked(newer)
    if compiled.search("") is not None:
        return Checked(_EVERYWHERE)
    try:
        if is_exponential(tree, compiled.flags):
            return Checked("it can take forever: a repeat in it can read the same text in several ways")
    except TooComplex as error:
        return Checked(f"it is too complex to be checked: {error}")
    return Checked("", literals(tree, compiled.flags))


def literals(tree: Any, flags: int) -> tuple[str, ...]:
    """Lower-case texts of which a match holds at least one; none where no such text is sure."""
    found = _required(list(tree), bool(flags & re.IGNORECASE))
    return tuple(dict.fromkeys(found)) if _worth(found) >= SHORTEST_LITERAL else ()


def _required(items: Sequence[Any], ignore_case: bool) -> list[str]:
    """The alternatives of the best literal of a sequence."""
    best: list[str] = []
    run = ""

    def take(candidate: list[str]) -> None:
        nonlocal best
        if _worth(candidate) > _worth(best):
            best = candidate

    for operation, argument in items:
        name = str(operation)
        if name == "LITERAL":
            character = chr(argument).lower()
            # Beyond ASCII a letter has other spellings, so that its lower case may not occur.
            if ord(chr(argument)) < 128 and character.isascii():
                run += character
                continue
        take([run] if run else [])
        run = ""
        if name == "SUBPATTERN":
            take(_required(list(argument[3]), ignore_case or bool(argument[1] & re.IGNORECASE)))
        elif name in ("MAX_REPEAT", "MIN_REPEAT") and argument[0] >= 1:
            take(_required(list(argument[2]), ignore_case))
        elif name == "BRANCH":
            branches = [_required(list(branch), ignore_case) for branch in argument[1]]
            if all(branches):
                take([text for branch in branches for text in branch])
    take([run] if run else [])
    return best


def _worth(alternatives: list[str]) -> int:
    """The length of the shortest: the weakest link of an either-or."""
    return min((len(text) for text in alternatives), default=0)


def _newer(tree: Any) -> str:
    """What of a pattern the hooks' Python may not know; "" for none."""
    for operation, argument in tree:
        if str(operation) in _NEWER:
            return "atomic groups and possessive repeats need Python 3.11, and the hooks run on 3.9"
        for part in _inside(argument):
            found = _newer(part)
            if found:
                return found
    return ""


def _inside(argument: Any) -> list[Any]:
    """The sub-patterns of an operation's argument."""
    if isinstance(argument, _parser.SubPattern):
        return [argument]
    if isinstance(argument, (list, tuple)):
        return [part for one in argument for part in _inside(one)]
    return []
