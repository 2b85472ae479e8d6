"""`catalog.json`: the library's words, laid out so that a hook finds a few of them without reading it all.

It is one JSON object, written with one record a line and numbers of fixed width (padded with spaces, which
JSON allows), so that a reader can map the file and go straight to a row or bisect the sorted posting lines:

    {"v": 1, "kind": "ultan-catalog", "size": ..., "rows_at": ..., ... "entries": 5000,
    "projects": {"remote:github.com/acme/shop": "shop"},
    "scopes": [["global", 0, 2600], ["project:shop", 2600, 2700]],
    "offsets": [          731,          1022],
    "rows": [
    {"id": ..., "title": ..., "type": ..., "updated": ..., "scope": ..., "excerpt": ...},
    ],
    "postings": [
    ["--no-verify", 2, [4, 17], [215, 190]],
    ]}

Rows of one scope stand together, so a scope is a range of row numbers. A posting line holds a token, how
many rows hold it, which, and what it adds to the score of each, in hundredths.
"""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

VERSION = 1
KIND = "ultan-catalog"
# Saturation of repeated words and the weight of an entry's length, as everywhere in the house.
K1, B = 1.5, 0.75
HUNDREDTHS = 100
# In a small library every word looks rare. Words are weighed as if there were at least this many entries, and
# the words that most notes of the trade hold as if a share of those had them.
LEAST_ENTRIES = 300
COMMON_SHARE = 0.06
SHOWN = ("id", "title", "type", "updated", "scope", "excerpt")
GLOBAL = "global"
_NUMBER = "%12d"
_OFFSET_WIDTH = 13


def weight_of(holders: int, entries: int, common: bool) -> float:
    """How much a word says, from the number of entries that hold it: BM25's idf, smoothed, never negative."""
    from math import log

    seen = float(holders)
    if entries < LEAST_ENTRIES:
        seen += (LEAST_ENTRIES - entries) * (COMMON_SHARE if common else 0.0)
        entries = LEAST_ENTRIES
    return log(1.0 + (entries - seen + 0.5) / (seen + 0.5))


def build_catalog(rows: list[dict[str, object]], projects: dict[str, str]) -> bytes:
    """The bytes of `catalog.json`.

    rows: {"id", "title", "type", "scope", "status", "updated", "applies_when", "tags", "body", "excerpt"} of
    each entry; rows with another status than active or "readable" false are left out. "counts" (token: how
    often, from `ultan.wire.tokens.counts`) saves tokenizing a row again; "overridden_in" lists the projects
    (slugs) in which the entry is not to be shown. projects: identity: slug, and `name:<slug>` for a project
    without identities.
    """
    from ultan.wire.stopwords import COMMON

    kept = [row for row in rows if row.get("status", "active") == "active" and row.get("readable", True)]
    kept.sort(key=lambda row: (row.get("scope") != GLOBAL, str(row.get("scope")), str(row["id"])))
    held = _counted(kept)
    lengths = [sum(times) for _tokens, times in held]
    mean = sum(lengths) / len(lengths) if any(lengths) else 1.0
    norms = [K1 * (1 - B + B * length / mean) for length in lengths]
    found: dict[str, tuple[list[int], list[float]]] = {}
    for number, (tokens, counts) in enumerate(held):
        norm = norms[number]
        for token, times in zip(tokens, counts):  # noqa: B905 (newer than Python 3.9)
            places = found.get(token)
            if places is None:
                places = found[token] = ([], [])
            places[0].append(number)
            places[1].append(times * (K1 + 1) / (times + norm))
    lines = []
    for token, (numbers, shares) in found.items():
        weight = weight_of(len(numbers), len(kept), token in COMMON) * HUNDREDTHS
        lines.append((_key(token), numbers, [round(weight * share) for share in shares]))
    lines.sort()
    return _lay_out(kept, projects, lines)


# What the entries of the last catalog held: the next one is mostly the same.
_LAST: dict[tuple[object, ...], tuple[tuple[str, ...], tuple[int, ...]]] = {}


def _counted(rows: list[dict[str, object]]) -> list[tuple[tuple[str, ...], tuple[int, ...]]]:
    """(tokens, how often each) of every row, as given or counted."""
    from ultan.wire.tokens import counts

    known: dict[tuple[object, ...], tuple[tuple[str, ...], tuple[int, ...]]] = {}
    found = []
    for row in rows:
        given = row.get("counts")
        if isinstance(given, dict):
            found.append((tuple(given), tuple(given.values())))
            continue
        tags = row.get("tags")
        words = tuple(tags) if isinstance(tags, (list, tuple)) else ()
        key = (row.get("title"), row.get("applies_when"), words, row.get("body"))
        pair = _LAST.get(key)
        if pair is None:
            counted = counts(row)
            pair = tuple(counted), tuple(counted.values())
        known[key] = pair
        found.append(pair)
    _LAST.clear()
    _LAST.update(known)
    return found


def _key(token: str) -> bytes:
    """A token as it is written in its line, and sorted by."""
    return json.encoder.encode_basestring_ascii(token).encode("ascii")


_ENCODER = json.JSONEncoder(separators=(",", ":"))


def _dump(value: object) -> bytes:
    return _ENCODER.encode(value).encode("ascii")


def _numbers(values: list[int]) -> bytes:
    """A list of numbers as JSON; many are short, and for those this is faster than the encoder."""
    return ("[%s]" % ",".join(map(str, values))).encode("ascii")


def _joined(lines: Iterable[bytes]) -> bytes:
    text = b",\n".join(lines)
    return text + b"\n" if text else b""


def _lay_out(
    rows: list[dict[str, object]], projects: dict[str, str], lines: list[tuple[bytes, list[int], list[int]]]
) -> bytes:
    scopes: list[list[object]] = []
    for number, row in enumerate(rows):
        scope = str(row.get("scope") or GLOBAL)
        if not scopes or scopes[-1][0] != scope:
            scopes.append([scope, number, number])
        scopes[-1][2] = number + 1
    texts = [_dump(_shown(row)) for row in rows]
    middle = b'"projects":%s,\n"scopes":%s,\n"offsets":[' % (_dump(projects), _dump(scopes))
    postings = _joined(
        b"[%s,%d,%s,%s]" % (key, len(numbers), _numbers(numbers), _numbers(gains))
        for key, numbers, gains in lines
    )

    head_size = len(_head({name: 0 for name in _HEAD}))
    offsets_at = head_size + len(middle)
    first = offsets_at + _OFFSET_WIDTH * len(rows) + len(b'],\n"rows":[\n')
    at, offsets = first, []
    for text in texts:
        offsets.append(at)
        at += len(text) + 2
    rows_end = at - 1 if rows else at
    postings_at = rows_end + len(b'],\n"postings":[\n')
    size = postings_at + len(postings) + len(b"]}\n")
    numbers = {
        "size": size,
        "entries": len(rows),
        "middle_at": head_size,
        "offsets_at": offsets_at,
        "postings_at": postings_at,
        "postings_end": postings_at + len(postings),
    }
    # The last offset's comma becomes a space: every number keeps its place.
    written = b"".join(b"%12d," % offset for offset in offsets)
    written = written[:-1] + b" " if written else written
    data = b"".join(
        [
            _head(numbers), middle, written, b'],\n"rows":[\n', _joined(texts),
            b'],\n"postings":[\n', postings, b"]}\n",
        ]
    )  # fmt: skip
    assert len(data) == size
    return data


def _shown(row: dict[str, object]) -> dict[str, object]:
    shown = {name: row.get(name, "") for name in SHOWN}
    if row.get("overridden_in"):
        shown["overridden_in"] = row["overridden_in"]
    return shown


_HEAD = ("size", "entries", "middle_at", "offsets_at", "postings_at", "postings_end")


def _head(numbers: dict[str, int]) -> bytes:
    fields = ",".join('"%s":%s' % (name, _NUMBER % numbers[name]) for name in _HEAD)
    return ('{"v":%d,"kind":"%s",%s,\n' % (VERSION, KIND, fields)).encode("ascii")


class BrokenCatalog(ValueError):
    """The file is no catalog, is cut off, or is of another version."""


class Pages:
    """A mapped catalog. Raises OSError or BrokenCatalog when opened; any ValueError or such when read."""

    __slots__ = ("_head", "_map", "entries", "projects", "scopes")

    def __init__(self, path: str) -> None:
        import mmap

        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            self._map = mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
        finally:
            os.close(descriptor)
        try:
            end = self._map.find(b"\n", 0, 512)
            head = json.loads(self._map[: max(end, 0)].rstrip(b",") + b"}")
            if (head["kind"], head["v"], head["size"]) != (KIND, VERSION, len(self._map)):
                raise BrokenCatalog("not a catalog of version %d" % VERSION)
            self._head = {name: int(head[name]) for name in _HEAD}
            middle = self._map[self._head["middle_at"] : self._head["offsets_at"]]
            outline = json.loads(b"{" + middle + b"]}")
            self.entries = self._head["entries"]
            self.projects: dict[str, str] = dict(outline["projects"])
            self.scopes: list[list[object]] = list(outline["scopes"])
        except (KeyError, TypeError, AttributeError) as error:
            raise BrokenCatalog("not a catalog") from error

    def row(self, number: int) -> dict[str, object]:
        """{"id", "title", "type", "updated", "scope", "excerpt"} of a row."""
        at = self._head["offsets_at"] + number * _OFFSET_WIDTH
        start = int(self._map[at : at + _OFFSET_WIDTH - 1])
        found: dict[str, object] = json.loads(self._map[start : self._map.find(b"\n", start)].rstrip(b","))
        return found

    def find(self, token: str) -> tuple[int, int]:
        """(how many rows hold a token, where its posting line begins); (0, 0) where none does."""
        wanted = b"[" + _key(token) + b","
        low, high = self._head["postings_at"], self._head["postings_end"]
        data, size = self._map, len(wanted)
        while low < high:
            middle = (low + high) // 2
            start = data.rfind(b"\n", low, middle) + 1 or low
            line = data[start : start + size]
            if line == wanted:
                return int(data[start + size : data.find(b",", start + size)]), start
            if line < wanted:
                low = data.find(b"\n", start) + 1 or high
            else:
                high = start
        return 0, 0

    def posting(self, start: int) -> tuple[list[int], list[int]]:
        """(row numbers ascending, hundredths of score) of the posting line that begins at `start`."""
        line = self._map[start : self._map.find(b"\n", start)].rstrip(b",")
        _token, _holders, rows, gains = json.loads(line)
        return rows, gains
