"""Whether a pattern can take exponential time: its automaton can loop over one text in two ways.

The positions of a pattern (Glushkov 1961) are the states of an automaton without empty steps. It is
exponentially ambiguous if, and only if, from some state two different paths over the same text lead back to
it (Weber and Seidl, "On the degree of ambiguity of finite automata", 1991, criterion EDA); a backtracking
matcher then tries all of them. Steps that exist twice, as in `(a*)*`, count as two paths.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

_parser: Any = import_module("re._parser")

MOST_STATES = 400
MOST_PAIRS = 60_000
# A repeat of at most so many times is written out; a longer one counts as one without an end.
WRITTEN_OUT = 12
# Characters that stand for all: a class is known by those it holds. Letters beyond ASCII and a private one.
_SAMPLE = [chr(n) for n in range(9, 127) if n in (9, 10, 13) or n >= 32] + ["é", "\u00a0", "中", "\ue000"]


class TooComplex(ValueError):
    """The automaton is too large to be checked."""


@dataclass
class Part:
    """A piece of a pattern. first, last: positions it may begin and end with, with how many ways; empty:
    whether it can match nothing.
    """

    first: dict[int, int] = field(default_factory=dict)
    last: dict[int, int] = field(default_factory=dict)
    empty: bool = True


class Automaton:
    """holds: for each position the characters it matches, as a bit set over the sample. follow: position ->
    position -> in how many ways the second can come right after the first.
    """

    def __init__(self, tree: Any, flags: int) -> None:
        self.holds: list[int] = []
        self.follow: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        self.sample = list(dict.fromkeys([*_SAMPLE, *_characters(tree)]))
        self.flags = flags
        self.sequence(tree, flags)

    def sequence(self, items: Any, flags: int) -> Part:
        """The parts one after the other."""
        whole = Part()
        for operation, argument in items:
            whole = self.join(whole, self.part(str(operation), argument, flags))
        return whole

    def join(self, one: Part, other: Part) -> Part:
        for before, ways in one.last.items():
            for after, more in other.first.items():
                self.follow[before][after] += ways * more
        return Part(
            _sum(one.first, other.first if one.empty else {}),
            _sum(other.last, one.last if other.empty else {}),
            one.empty and other.empty,
        )

    def part(self, name: str, argument: Any, flags: int) -> Part:
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            return self.repeat(argument[0], argument[1], argument[2], flags)
        if name == "SUBPATTERN":
            return self.sequence(argument[3], (flags | argument[1]) & ~argument[2])
        if name == "BRANCH":
            return self.either([self.sequence(branch, flags) for branch in argument[1]])
        if name in ("ASSERT", "ASSERT_NOT"):
            self.sequence(argument[1], flags)  # loops within it count, but nothing comes after it
            return Part()
        if name == "AT":
            return Part()
        if name == "GROUPREF":  # any text, so that it may overlap with all around it
            return self.loop(self.position((1 << len(self.sample)) - 1))
        if name in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
            return self.position(self.set_of(name, argument, flags))
        raise TooComplex(f"{name.lower()} is not understood")

    def repeat(self, least: int, most: int, body: Any, flags: int) -> Part:
        whole = Part()
        if most > WRITTEN_OUT:
            for _ in range(min(least, 2)):
                whole = self.join(whole, self.sequence(body, flags))
            return self.join(whole, self.loop(self.sequence(body, flags)))
        for number in range(most):
            one = self.sequence(body, flags)
            if number >= least:
                one = Part(one.first, one.last, True)
            whole = self.join(whole, one)
        return whole

    def loop(self, body: Part) -> Part:
        for before, ways in body.last.items():
            for after, more in body.first.items():
                self.follow[before][after] += ways * more
        return Part(body.first, body.last, True)

    def either(self, parts: list[Part]) -> Part:
        whole = Part(empty=False)
        for one in parts:
            whole = Part(_sum(whole.first, one.first), _sum(whole.last, one.last), whole.empty or one.empty)
        return whole

    def position(self, holds: int) -> Part:
        if len(self.holds) >= MOST_STATES:
            raise TooComplex(f"it has more than {MOST_STATES} places")
        self.holds.append(holds)
        at = len(self.holds) - 1
        return Part({at: 1}, {at: 1}, False)

    def set_of(self, name: str, argument: Any, flags: int) -> int:
        """The characters of the sample that one place of a pattern matches, as `re` itself says."""
        state = _parser.State()
        one = _parser.SubPattern(state, [(getattr(_parser, name), argument)])
        shown = re._compiler.compile(one, flags & (re.IGNORECASE | re.DOTALL | re.ASCII))  # type: ignore[attr-defined]
        bits = 0
        for place, character in enumerate(self.sample):
            if shown.match(character):
                bits |= 1 << place
        return bits


def is_exponential(tree: Any, flags: int) -> bool:
    """Whether the pattern can take exponential time. Raises TooComplex."""
    automaton = Automaton(tree, flags)
    return any(_ambiguous(automaton, component) for component in _components(automaton))


def _ambiguous(automaton: Automaton, component: set[int]) -> bool:
    """Whether two different paths over one text lead from a state of a loop back to it."""
    steps = {
        state: {after: ways for after, ways in automaton.follow[state].items() if after in component}
        for state in component
    }
    if any(ways > 1 and automaton.holds[after] for nexts in steps.values() for after, ways in nexts.items()):
        return True
    if len(component) ** 2 > MOST_PAIRS:
        raise TooComplex("its loops are too large")
    holds = automaton.holds
    forward: dict[tuple[int, int], list[tuple[int, int]]] = {}
    back: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for one in component:
        for other in component:
            pairs = [(a, b) for a in steps[one] for b in steps[other] if holds[a] & holds[b]]
            forward[one, other] = pairs
            for pair in pairs:
                back[pair].append((one, other))
    equal = [(state, state) for state in component]
    both = _reached(equal, forward) & _reached(equal, back)
    # All equal pairs lie in one component, so one start for all of them is enough.
    return any(one != other for one, other in both)


def _reached(starts: list[tuple[int, int]], edges: Any) -> set[tuple[int, int]]:
    seen, waiting = set(starts), list(starts)
    while waiting:
        for pair in edges[waiting.pop()]:
            if pair not in seen:
                seen.add(pair)
                waiting.append(pair)
    return seen


def _components(automaton: Automaton) -> list[set[int]]:
    """The strongly connected sets of states that hold a loop (Kosaraju)."""
    count = len(automaton.holds)
    edges = {state: list(automaton.follow[state]) for state in range(count)}
    back: dict[int, list[int]] = {state: [] for state in range(count)}
    for state, nexts in edges.items():
        for after in nexts:
            back[after].append(state)
    order: list[int] = []
    seen: set[int] = set()
    for start in range(count):
        stack = [(start, iter(edges[start]))] if start not in seen else []
        seen.add(start)
        while stack:
            state, nexts_left = stack[-1]
            following = next((after for after in nexts_left if after not in seen), None)
            if following is None:
                order.append(state)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(edges[following])))
    found, taken = [], set[int]()
    for start in reversed(order):
        if start in taken:
            continue
        component, waiting = {start}, [start]
        taken.add(start)
        while waiting:
            for before in back[waiting.pop()]:
                if before not in taken:
                    taken.add(before)
                    component.add(before)
                    waiting.append(before)
        if len(component) > 1 or start in edges[start]:
            found.append(component)
    return found


def _characters(tree: Any) -> set[str]:
    """The characters that a pattern names."""
    found: set[str] = set()
    waiting: list[Any] = [tree]
    while waiting:
        one = waiting.pop()
        if isinstance(one, (list, tuple, _parser.SubPattern)):
            items = list(one)
            if len(items) == 2 and str(items[0]) in ("LITERAL", "NOT_LITERAL") and isinstance(items[1], int):
                found.add(chr(items[1]))
            elif len(items) == 2 and str(items[0]) == "RANGE":
                found.update(chr(n) for n in items[1])
            waiting += items
    return found


def _sum(one: dict[int, int], other: dict[int, int]) -> dict[int, int]:
    found = dict(one)
    for key, ways in other.items():
        found[key] = found.get(key, 0) + ways
    return found
