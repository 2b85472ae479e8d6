"""The cross-encoder: reads a question and an entry together, for as many entries as the time allows.

The packaged model is ms-marco-MiniLM-L-12-v2, int8. A pair costs 3 to 20 ms on one core, in proportion to
its tokens, so pairs are short: of an entry the passage that is nearest to the question (passage.py), of a
long question its ends. Pairs are run one at a time, as everything that is quantised (embedded.py), by two
threads that each take the next one in turn.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ultan.retrieval.embedded import (
    CHARACTERS_PER_TOKEN,
    SLOW_FUSIONS,
    check_file,
    ends,
    find_folder,
    open_model,
    run,
    shorten,
)
from ultan.retrieval.models import Reranker

FOLDER = "models/data/reranker_en"
MODEL = "ms-marco-MiniLM-L-12-v2-int8"
SHA256 = {
    "model.onnx": "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
    "tokenizer.json": "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
}
QUERY_TOKENS = 64
PAIR_TOKENS = 192
WORKERS = 2
# What a pair is thought to cost until the first was measured, in seconds a token; and how fast a new
# measurement takes over. A slower one takes over at once: being late is worse than judging one pair fewer.
FIRST_COST = 0.0004
LEARNING = 0.2
# Where not even one pair seems to fit, nothing is measured; the doubt then fades, until one is tried again.
FADING = 0.98


class EmbeddedReranker:
    """The packaged cross-encoder on the CPU; one session of one thread, so that two callers use two cores."""

    english_only = True

    def __init__(self, session: Any, tokenizer: Any, digest: str) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self.id = f"{MODEL}/{digest[:12]}"

    @classmethod
    def load(cls, folder: Path | None = None) -> EmbeddedReranker:
        """Check the files' hashes and load them (about 0.3 s). Raises ModelUnavailable."""
        session, tokenizer = open_model(folder or find_folder(FOLDER, MODEL), SHA256, MODEL, SLOW_FUSIONS)
        return cls(session, tokenizer, SHA256["model.onnx"])

    def ready(self) -> None:
        """It is."""

    def score(self, query: str, text: str) -> float:
        """The model's logit: above 0 roughly where the text answers the question."""
        first = ends(self._ids(query, QUERY_TOKENS), QUERY_TOKENS)
        room = PAIR_TOKENS - len(first)
        second = self._ids(text, room)[1:]
        second = [*second[: room - 1], second[-1]] if len(second) > room else second
        types = [0] * len(first) + [1] * len(second)
        return float(run(self._session, first + second, types)[0, 0])

    def _ids(self, text: str, limit: int) -> list[int]:
        """[CLS] text [SEP]"""
        found: list[int] = self._tokenizer.encode(shorten(text, limit * CHARACTERS_PER_TOKEN)).ids
        return found


class OnDemand:
    """The packaged cross-encoder, checked now and loaded when the first pair is judged: on most days nobody
    searches, and it takes its memory.
    """

    english_only = True
    id = f"{MODEL}/{SHA256['model.onnx'][:12]}"

    def __init__(self, folder: Path | None = None) -> None:
        """Check the files' hashes. Raises ModelUnavailable."""
        self._folder = folder or find_folder(FOLDER, MODEL)
        for name, wanted in SHA256.items():
            check_file(self._folder / name, wanted, MODEL)
        self._guard = threading.Lock()
        self._loaded: EmbeddedReranker | None = None

    def ready(self) -> None:
        """Load it if it is not yet (about 0.3 s). Raises ModelUnavailable."""
        self._model()

    def score(self, query: str, text: str) -> float:
        """The model's logit."""
        return self._model().score(query, text)

    def _model(self) -> EmbeddedReranker:
        with self._guard:
            if self._loaded is None:
                self._loaded = EmbeddedReranker.load(self._folder)
            return self._loaded


class Judge:
    """Scores pairs in their order until a moment, and learns what one costs on this machine.

    clock() tells seconds as `deadline` has them. May be called from several threads.
    """

    def __init__(
        self, reranker: Reranker, clock: Callable[[], float] = time.monotonic, workers: int = WORKERS
    ) -> None:
        self.reranker = reranker
        self.clock = clock
        self._workers = workers
        self._pool = ThreadPoolExecutor(workers, "rerank")
        self._guard = threading.Lock()
        self._cost = FIRST_COST

    def scores(self, query: str, texts: Iterable[str], deadline: float | None = None) -> dict[int, float]:
        """place: its score, for each text that is done by the deadline (None: for all).

        texts may be made one by one: what is not judged is not asked for, and making it counts as its cost.
        """
        self.reranker.ready()  # the time that takes is no cost of a pair
        found: dict[int, float] = {}
        waiting, turn = enumerate(texts), threading.Lock()

        def work(_worker: int) -> None:
            while deadline is None or self.clock() < deadline:
                with turn:
                    begun = self.clock()
                    place, text = next(waiting, (-1, ""))
                if place < 0:
                    return
                length = size(query, text)
                if deadline is not None and begun + self._cost * length > deadline:
                    return
                found[place] = self.reranker.score(query, text)
                self._learn((self.clock() - begun) / length)

        if deadline is None or self.clock() < deadline:
            list(self._pool.map(work, range(self._workers)))
            if not found:
                with self._guard:
                    self._cost *= FADING
        return found

    def _learn(self, cost: float) -> None:
        with self._guard:
            self._cost = cost if cost > self._cost else self._cost + LEARNING * (cost - self._cost)


def size(query: str, text: str) -> int:
    """About how many tokens a pair has, without asking the tokenizer."""
    return sum(min(len(part.encode("utf-8", "replace")) // 4, PAIR_TOKENS) + 4 for part in (query, text))
