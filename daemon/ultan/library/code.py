"""Which parts of a markdown body are not prose: code blocks, code spans, comments.

After CommonMark 0.31, sections 4.4, 4.5, 5.2 and 6.1; nested lists are told by their indentation alone.
Linear in the length of the body, whatever it holds.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

_FENCE = re.compile(r"(?P<marks>`{3,}|~{3,})(?P<info>[^\n]*)")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?P<gap> +|$)")
_TICKS = re.compile(r"`+")
_BREAK = re.compile(r"\n[ \t]*\n")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """A code block: whole lines, the fences included."""

    start: int
    stop: int
    fenced: bool


def inert_spans(body: str) -> list[tuple[int, int]]:
    """(start, stop) of everything in `body` that is code or comment, sorted."""
    blocks = code_blocks(body)
    spans = [(block.start, block.stop) for block in blocks]
    place = 0
    for block in blocks:
        spans += _inline(body, place, block.start)
        place = block.stop
    return sorted(spans + _inline(body, place, len(body)))


def is_inert(place: int, spans: list[tuple[int, int]]) -> bool:
    """Whether a place of the body lies in one of the spans of `inert_spans`."""
    number = bisect_left(spans, (place + 1, 0))
    return number > 0 and place < spans[number - 1][1]


def backslashed(body: str, place: int) -> bool:
    """Whether an odd number of backslashes stands before `place`."""
    count = 0
    while place > count and body[place - count - 1] == "\\":
        count += 1
    return count % 2 == 1


def code_blocks(body: str) -> list[Block]:
    """Fenced and indented code blocks, in order."""
    found: list[Block] = []
    fence, begun, place = "", 0, 0
    after_gap, in_code = True, False  # no paragraph above that the line could go on; a code line above
    base = 0  # the indentation at which the content of the list item around begins
    for line in body.splitlines(keepends=True):
        start, place = place, place + len(line)
        text = line.strip()
        indent = _indent(line)
        if fence:
            if set(text) == {fence[0]} and len(text) >= len(fence):
                found.append(Block(begun, place, True))
                fence, after_gap = "", True
            continue
        if not text:
            after_gap = True
            continue
        if indent < base and after_gap:
            base = indent
        if indent >= base + 4 and (after_gap or in_code):
            found.append(Block(start, place, False))
            in_code = True
            continue
        in_code = False
        opened = _FENCE.match(text)
        if opened and not (text[0] == "`" and "`" in opened["info"]):
            fence, begun = opened["marks"], start
            continue
        item = _ITEM.match(text)
        if item:
            base = indent + (
                len(item[0]) if 0 < len(item["gap"]) < 5 else len(item[0]) - len(item["gap"]) + 1
            )
        after_gap = text.startswith("#")
    if fence:
        found.append(Block(begun, len(body), True))
    return found


def _indent(line: str) -> int:
    stripped = line.lstrip(" \t")
    return len(line[: len(line) - len(stripped)].expandtabs(4))


def _inline(body: str, start: int, stop: int) -> list[tuple[int, int]]:
    """Code spans and comments of a stretch of prose."""
    spans = _code_spans(body, start, stop)
    if body.find("<!--", start, stop) >= 0:
        inside = sorted(spans)
        spans += [c.span() for c in _COMMENT.finditer(body, start, stop) if not is_inert(c.start(), inside)]
    return spans


def _code_spans(body: str, start: int, stop: int) -> list[tuple[int, int]]:
    """A run of backticks opens a span that the next run of the same length in the paragraph closes."""
    runs = [run.span() for run in _TICKS.finditer(body, start, stop)]
    if len(runs) < 2:
        return []
    by_length: dict[int, list[int]] = {}
    for number, (begin, end) in enumerate(runs):
        by_length.setdefault(end - begin, []).append(number)
    breaks = [gap.start() for gap in _BREAK.finditer(body, start, stop)]
    spans: list[tuple[int, int]] = []
    number = 0
    while number < len(runs):
        begin, end = runs[number]
        same = by_length[end - begin]
        after = bisect_left(same, number + 1)
        number += 1
        if backslashed(body, begin) or after == len(same):
            continue
        closing = same[after]
        gap = bisect_left(breaks, end)
        if gap < len(breaks) and breaks[gap] < runs[closing][0]:
            continue
        spans.append((begin, runs[closing][1]))
        number = closing + 1
    return spans
