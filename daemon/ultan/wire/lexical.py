"""The answer without a daemon: the catalog's entries whose words speak about the same as a prompt's, or none.

Standard library only and cheap to import: each hook pays for it.
"""

from __future__ import annotations

from bisect import bisect_left

from ultan.wire.catalog import GLOBAL, HUNDREDTHS, Pages, build_catalog, weight_of

__all__ = ["Catalog", "build_catalog"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

# A long paste is judged by its start and its end, where its question stands, and by its rarest words.
TOKENS_LOOKED_UP = 600
TOKENS_WEIGHED = 64
POSTINGS_READ = 40_000
CANDIDATES = 10
FIRST_SPACELESS = "\u0e01"

# The gate: a logistic over two features, fitted on the labelled prompts of tests/evals/priming (the five best
# rows of each prompt; applies = any label) by ridge regression. Five-fold cross-validated with the threshold
# chosen inside the folds: prime score 0.45, silence 0.89 (easy negatives 0.95), precision 0.64.
BIAS, PER_SCORE, PER_COVERAGE = -9.68, 2.86, 3.12
THRESHOLD = 0.35
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
    words = weigh(pages, text)
    ranges = _in_scope(pages, project)
    scores = _scores(words, ranges)
    best = sorted(scores, key=lambda number: (-scores[number], number))[:CANDIDATES]
    found: list[dict[str, object]] = []
    for number in best:
        chance = probability(words, number, scores[number], pages.entries)
        if chance < (THRESHOLD if threshold is None else threshold):
            continue
        row = pages.row(number)
        over = row.pop("overridden_in", ())
        if row["id"] in exclude or (isinstance(over, list) and project in over):
            continue
        if len(found) < limit:
            row["score"] = round(chance, 4)
            found.append(row)
    return found


class Word:
    """A distinct word of a prompt: what it says, and, once read, which rows hold it."""

    __slots__ = ("at", "gains", "holders", "rows", "token", "weight")

    def __init__(self, token: str, weight: float, holders: int, at: int) -> None:
        """weight: what it says (`weight_of`); holders: how many rows hold it; at: its posting's place."""
        self.token = token
        self.weight = weight
        self.holders = holders
        self.at = at
        self.rows: list[int] = []
        self.gains: list[int] = []

    @property
    def asked(self) -> float:
        """Its share in what the prompt says. Of the pairs of spaceless text half cross a word's border."""
        return self.weight if self.holders or self.token < FIRST_SPACELESS else self.weight / 2

    @property
    def names(self) -> bool:
        """Whether it is an identifier: not letters alone, not a number."""
        return self.token.isascii() and not self.token.isalpha() and not self.token.isdigit()

    def is_in(self, number: int) -> bool:
        at = bisect_left(self.rows, number)
        return at < len(self.rows) and self.rows[at] == number


def weigh(pages: Pages, text: str) -> list[Word]:
    """The distinct words of a prompt, those that say most first and, within a limit, with their rows (what is
    left out adds next to nothing).
    """
    from ultan.wire.stopwords import COMMON
    from ultan.wire.tokens import tokenize

    tokens = list(dict.fromkeys(tokenize(text)))
    if len(tokens) > TOKENS_LOOKED_UP:
        tokens = tokens[: TOKENS_LOOKED_UP // 2] + tokens[-TOKENS_LOOKED_UP // 2 :]
    words = []
    for token in tokens:
        holders, at = pages.find(token)
        words.append(Word(token, weight_of(holders, pages.entries, token in COMMON), holders, at))
    words.sort(key=lambda word: -word.weight)
    left = POSTINGS_READ
    for word in [word for word in words if word.holders][:TOKENS_WEIGHED]:
        if word.holders > left and left < POSTINGS_READ:
            break
        left -= word.holders
        word.rows, word.gains = pages.posting(word.at)
    return words


def _in_scope(pages: Pages, project: str | None) -> list[tuple[int, int]]:
    wanted = (GLOBAL, "project:%s" % project) if project else (GLOBAL,)
    return [(int(str(low)), int(str(high))) for scope, low, high in pages.scopes if scope in wanted]


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


def features(words: list[Word], number: int, score: float) -> tuple[float, float]:
    """What the gate judges a row by: the log of its score, and the share of the prompt that it holds."""
    from math import log

    asked = sum(word.asked for word in words) or 1.0
    held = sum(word.weight for word in words if word.is_in(number))
    return log(1.0 + score), held / asked


def probability(words: list[Word], number: int, score: float, entries: int) -> float:
    """The probability that a row applies."""
    from math import exp

    said, coverage = features(words, number, score)
    chance = 1.0 / (1.0 + exp(-(BIAS + PER_SCORE * said + PER_COVERAGE * coverage)))
    if entries < FEW_ENTRIES and coverage >= 0.5 and any(word.names and word.is_in(number) for word in words):
        chance = max(chance, NAMED)
    return chance
