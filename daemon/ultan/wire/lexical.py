"""The answer without a daemon: the catalog's entries whose words speak about the same as a prompt's, or none.

Standard library only and cheap to import: each hook pays for it.
"""

from __future__ import annotations

from bisect import bisect_left

from ultan.wire.catalog import GLOBAL, HUNDREDTHS, Pages, build_catalog, weight_of
from ultan.wire.form import Form, form_of

__all__ = ["Catalog", "build_catalog"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from ultan.wire.heard import Heard

# A long paste is judged by its start and its end, where its question stands, and by its rarest words.
TOKENS_LOOKED_UP = 600
TOKENS_WEIGHED = 64
POSTINGS_READ = 40_000
CANDIDATES = 10

# The gate: a logistic, the set `words` of ultan/retrieval/gate.json, which says how it came about.
WEIGHTS = {
    "words": 3.0171,
    "coverage": 4.3384,
    "project": 1.0498,
    "approval": -4.7981,
    "chore": -5.0005,
    "fact": -2.1082,
}
BIAS = -10.54
THRESHOLD = 0.39
# In a library of this few entries a word is rare because all words are. An exact identifier is still a hit.
FEW_ENTRIES, NAMED = 50, 0.5


class Catalog:
    """The entries of `catalog.json`. A missing, broken or newer file is an empty catalog."""

    __slots__ = ("_pages",)

    def __init__(self, pages: Pages | None) -> None:
        self._pages = pages

    @classmethod
    def open(cls, path: str) -> Catalog:
        """Map the file; never raises."""
        try:
            return cls(Pages(path))
        except (OSError, ValueError):
            return cls(None)

    def __len__(self) -> int:
        return self._pages.entries if self._pages else 0

    def project_for(self, identities: Iterable[str]) -> str | None:
        """The library's slug for the project with these identities (best first); None where it has none."""
        if self._pages is None:
            return None
        from ultan.wire.projects import slug_for

        known: dict[str, list[str]] = {}
        for identity, slug in self._pages.projects.items():
            known.setdefault(slug, []).extend([] if identity.startswith("name:") else [identity])
        mine = list(identities)
        return slug_for(known, mine) if mine else None

    def search(
        self,
        text: str,
        project: str | None,
        limit: int = 3,
        exclude: Collection[str] = frozenset(),
        threshold: float | None = None,
    ) -> list[dict[str, object]]:
        """The entries that apply to `text`, best first: {"id", "title", "type", "updated", "scope",
        "excerpt", "score"}; none where nothing does. Never raises.

        score: the probability that the entry applies; `threshold` (default: the calibrated one) is the
        least that is shown. Only global entries and those of `project` (a slug) are considered.
        """
        if self._pages is None:
            return []
        try:
            return _search(self._pages, text, project, limit, exclude, threshold)
        except Exception:  # a catalog that was cut or overwritten meanwhile must not cost the prompt
            return []


def _search(
    pages: Pages,
    text: str,
    project: str | None,
    limit: int,
    exclude: Collection[str],
    threshold: float | None,
) -> list[dict[str, object]]:
    from ultan.wire.heard import heard

    question = heard(text)
    form = form_of(question.own)
    if form.empty:
        return []
    words = weigh(pages, question)
    ranges = _in_scope(pages, project)
    scores = _scores(words, ranges)
    best = sorted(scores, key=lambda number: (-scores[number], number))[:CANDIDATES]
    own = [range(low, high) for low, high in ranges[1:]]
    chances = {
        number: probability(
            form, words, number, scores[number], any(number in rows for rows in own), pages.entries
        )
        for number in best
    }
    found: list[dict[str, object]] = []
    for number in sorted(best, key=lambda number: -chances[number]):
        if chances[number] < (THRESHOLD if threshold is None else threshold):
            break
        row = pages.row(number)
        over = row.pop("overridden_in", ())
        if row["id"] in exclude or (isinstance(over, list) and project in over):
            continue
        if len(found) < limit:
            row["score"] = round(chances[number], 4)
            found.append(row)
    return found


class Word:
    """A distinct word of a prompt: what it says, and, once read, which rows hold it."""

    __slots__ = ("asked", "at", "gains", "holders", "named", "rows", "weight")

    def __init__(self, weight: float, asked: float, named: bool, holders: int, at: int) -> None:
        """weight: what it says (`weight_of`); asked: its share in what the prompt says; named: whether it is
        an identifier; holders: how many rows hold it; at: its posting's place."""
        self.asked = asked
        self.named = named
        self.weight = weight
        self.holders = holders
        self.at = at
        self.rows: list[int] = []
        self.gains: list[int] = []

    def is_in(self, number: int) -> bool:
        at = bisect_left(self.rows, number)
        return at < len(self.rows) and self.rows[at] == number


def weigh(pages: Pages, question: Heard) -> list[Word]:
    """The distinct words of a prompt, those that say most first and, within a limit, with their rows (what is
    left out adds next to nothing).
    """
    from ultan.wire.heard import words as words_of
    from ultan.wire.stopwords import COMMON
    from ultan.wire.tokens import is_name, is_pair

    tokens, mentioned = words_of(question)
    if len(tokens) > TOKENS_LOOKED_UP:
        tokens = tokens[: TOKENS_LOOKED_UP // 2] + tokens[-TOKENS_LOOKED_UP // 2 :]
    tokens += [token for token in mentioned if pages.find(token)[0]]
    words = []
    for token in tokens:
        holders, at = pages.find(token)
        weight = weight_of(holders, pages.entries, token in COMMON)
        # Of the pairs of spaceless text half cross a word's border.
        asked = weight if holders or not is_pair(token) else weight / 2
        words.append(Word(weight, asked, is_name(token), holders, at))
    words.sort(key=lambda word: -word.weight)
    left = POSTINGS_READ
    for word in [word for word in words if word.holders][:TOKENS_WEIGHED]:
        if word.holders > left and left < POSTINGS_READ:
            break
        left -= word.holders
        word.rows, word.gains = pages.posting(word.at)
    return words


def _in_scope(pages: Pages, project: str | None) -> list[tuple[int, int]]:
    """The rows of the global scope and, second, of the project."""
    places = {scope: (int(str(low)), int(str(high))) for scope, low, high in pages.scopes}
    wanted = (GLOBAL, "project:%s" % project) if project else (GLOBAL,)
    return [places.get(scope, (0, 0)) for scope in wanted]


def _scores(words: list[Word], ranges: list[tuple[int, int]]) -> dict[int, float]:
    """The score of each row in scope that holds one of the words, by BM25."""
    sums: dict[int, int] = {}
    for word in words:
        for low, high in ranges:
            start, end = bisect_left(word.rows, low), bisect_left(word.rows, high)
            for at in range(start, end):
                number = word.rows[at]
                sums[number] = sums.get(number, 0) + word.gains[at]
    return {number: total / HUNDREDTHS for number, total in sums.items()}


def probability(
    form: Form, words: list[Word], number: int, score: float, project: bool, entries: int
) -> float:
    """The probability that a row applies. score: its BM25; project: whether it is the project's own."""
    from math import exp, log

    coverage = sum(word.weight for word in words if word.is_in(number)) / (
        sum(word.asked for word in words) or 1.0
    )
    total = (
        BIAS
        + WEIGHTS["words"] * log(1.0 + score)
        + WEIGHTS["coverage"] * coverage
        + WEIGHTS["project"] * project
        + WEIGHTS["approval"] * form.approval
        + WEIGHTS["chore"] * form.chore
        + WEIGHTS["fact"] * form.fact
    )
    chance = 1.0 / (1.0 + exp(-total))
    if entries < FEW_ENTRIES and coverage >= 0.5 and any(word.named and word.is_in(number) for word in words):
        return max(chance, NAMED)
    return chance
