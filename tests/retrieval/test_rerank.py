"""The cross-encoder: what it reads, how many it reads in the time there is, what its opinion changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from retrieval.small import FRIDAY, MONEY, RESPX, Bag, Letters, Write
from ultan.library.entry import Entry
from ultan.retrieval.evidence import margins
from ultan.retrieval.index import Index
from ultan.retrieval.models import ModelUnavailable
from ultan.retrieval.passage import passage
from ultan.retrieval.pipeline import Pipeline, Query, Settings
from ultan.retrieval.rerank import PAIR_TOKENS, EmbeddedReranker, Judge, OnDemand
from ultan.wire.home import Home

Read = Callable[[], dict[str, Entry]]
EVERYTHING = Query("what about cassettes, cents and Fridays?", everything=True)


class Machine:
    """A cross-encoder on a machine of its own speed: a score takes so many seconds of the clock it shows."""

    id = "machine/1"
    english_only = True

    def __init__(self, seconds: float = 0.01, favourite: str = "") -> None:
        self.seconds = seconds
        self.favourite = favourite
        self.now = 100.0
        self.texts: list[str] = []

    def clock(self) -> float:
        return self.now

    def ready(self) -> None:
        pass

    def score(self, query: str, text: str) -> float:
        self.now += self.seconds
        self.texts.append(text)
        return 5.0 if self.favourite and self.favourite in text else -float(len(self.texts))


def judge_of(machine: Machine) -> Judge:
    return Judge(machine, machine.clock, workers=1)


@pytest.mark.parametrize("slowness", [1, 4, 20])
def test_the_deadline_holds_on_a_slower_machine(slowness: int) -> None:
    machine = Machine(0.02 * slowness)
    judge = judge_of(machine)
    judge.scores("question", ["a text"])
    for _ in range(5):
        deadline = machine.now + 0.2
        found = judge.scores("question", ["a text"] * 30, deadline)
        assert machine.now <= deadline + 1e-9
        assert len(found) == min(30, int(0.2 / machine.seconds + 1e-9))


def test_a_machine_that_becomes_four_times_slower_is_late_by_one_pair_once() -> None:
    machine = Machine(0.01)
    judge = judge_of(machine)
    judge.scores("question", ["a text"] * 20)
    machine.seconds = 0.04
    late = []
    for _ in range(4):
        deadline = machine.now + 0.1
        judge.scores("question", ["a text"] * 30, deadline)
        late.append(machine.now - deadline)
    assert late[0] <= 0.04
    assert max(late[1:]) <= 1e-9


def test_one_slow_pair_does_not_silence_the_judge_for_ever() -> None:
    machine = Machine(0.5)
    judge = judge_of(machine)
    judge.scores("question", ["a text"])
    machine.seconds = 0.001
    counts = []
    for _ in range(200):
        found = judge.scores("question", ["a text"] * 30, machine.now + 0.1)
        counts.append(len(found))
    assert counts[-1] == 30


def test_without_time_nothing_is_judged() -> None:
    machine = Machine()
    assert judge_of(machine).scores("question", ["a", "b"], machine.now) == {}
    assert machine.texts == []


def test_without_a_deadline_all_are_judged_in_their_places() -> None:
    class Length:
        id, english_only = "length/1", True

        def ready(self) -> None:
            pass

        def score(self, query: str, text: str) -> float:
            return float(len(text))

    texts = ["x" * n for n in range(40)]
    assert Judge(Length()).scores("question", texts) == {n: float(n) for n in range(40)}


def test_what_a_model_raises_reaches_the_caller() -> None:
    class Broken:
        id, english_only = "broken/1", True

        def ready(self) -> None:
            pass

        def score(self, query: str, text: str) -> float:
            raise RuntimeError("no memory")

    with pytest.raises(RuntimeError, match="no memory"):
        Judge(Broken()).scores("question", ["a", "b", "c"])


@pytest.fixture
def index(home: Home, three: None, entries: Read) -> Index:
    found = Index(home, Bag(), Letters())
    found.refresh(entries())
    return found


def ids(pipeline: Pipeline, query: Query) -> list[str]:
    return [candidate.id for candidate in pipeline.rank(query).candidates]


@pytest.mark.parametrize("entry", [FRIDAY, RESPX, MONEY])
def test_a_search_is_sorted_by_the_judge(index: Index, entry: tuple[str, str, str]) -> None:
    machine = Machine(favourite=entry[1])
    assert ids(Pipeline(index, judge=judge_of(machine)), EVERYTHING)[0] == entry[0]


def test_each_stage_can_be_left_out(index: Index) -> None:
    judge = judge_of(Machine())
    both = {stage.name for stage in Pipeline(index, judge=judge).stages}
    assert {"late", "rerank"} <= both
    assert both - {s.name for s in Pipeline(index, Settings(late=False), judge=judge).stages} == {"late"}
    assert both - {s.name for s in Pipeline(index, Settings(rerank=0), judge=judge).stages} == {"rerank"}
    assert both - {s.name for s in Pipeline(index).stages} == {"rerank"}


def test_a_question_may_fix_the_number_of_pairs(index: Index) -> None:
    machine = Machine()
    pipeline = Pipeline(index, judge=judge_of(machine))
    for count in (0, 1, 2):
        machine.texts.clear()
        query = Query(EVERYTHING.text, everything=True, rerank=count)
        found = pipeline.rank(query).candidates
        assert len(machine.texts) == count
        assert [candidate.scores["reranked"] for candidate in found] == [1.0] * count + [0.0] * (3 - count)


def test_who_was_not_judged_comes_after_who_was_and_has_plain_numbers(index: Index) -> None:
    machine = Machine(seconds=0.2)
    judge = judge_of(machine)
    judge.scores(EVERYTHING.text, [f"{FRIDAY[1]}. {FRIDAY[2]}"])
    query = Query(EVERYTHING.text, everything=True, deadline=machine.now + 0.5)
    found = Pipeline(index, judge=judge).rank(query).candidates
    judged = [candidate.scores["reranked"] for candidate in found]
    assert judged == sorted(judged, reverse=True)
    assert 0 < sum(judged) < 3
    assert all(np.isfinite(value) for candidate in found for value in candidate.scores.values())


def test_a_question_in_another_script_is_left_to_the_words(index: Index) -> None:
    machine = Machine()
    ranking = Pipeline(index, judge=judge_of(machine)).rank(Query("金曜日にデプロイ", everything=True))
    assert machine.texts == []
    assert all("late" not in candidate.scores for candidate in ranking.candidates)


def test_an_entry_without_token_vectors_counts_as_the_least_of_the_others(
    home: Home, three: None, entries: Read, write: Write
) -> None:
    index = Index(home, Bag(), Letters())
    index.refresh(entries())
    write("global/b", "Cassettes and cents", "Fridays, cassettes, cents.")
    index.refresh(entries(), embed=False)
    found = {c.id: c.scores["late"] for c in Pipeline(index).rank(EVERYTHING).candidates}
    assert found["global/b"] == min(found.values())


def test_a_margin_is_the_distance_to_the_best_of_the_others() -> None:
    assert margins(np.array([3.0, 1.0, 2.5])).tolist() == [0.5, -2.0, -0.5]
    assert margins(np.array([2.0])).tolist() == [0.0]
    assert margins(np.array([2.0, 2.0])).tolist() == [0.0, 0.0]


def test_a_short_entry_is_read_whole() -> None:
    entry = Entry(
        "a", "a.md", "Money", "", applies_when="paying", body="# Money\n\nNever floats. Use cents.\n"
    )
    assert passage(entry, {}) == "Money. paying. Never floats. Use cents."


def test_of_a_long_entry_the_part_that_answers_is_read() -> None:
    filler = " ".join(f"Sentence {n} tells of other matters at some length." for n in range(60))
    body = f"{filler}\n\nRotate the signing key with keytool before the certificate ends.\n\n{filler}"
    text = passage(Entry("a", "a.md", "Keys", "", body=body), {"keytool": 2.0, "sentenc": 0.1})
    assert text.startswith("Keys. ")
    assert "keytool" in text
    assert len(text) <= 440


def test_where_nothing_is_shared_the_rule_is_read() -> None:
    filler = " ".join(f"It came about in year {n} that people met." for n in range(60))
    text = passage(
        Entry("a", "a.md", "Keys", "", body=f"{filler}\n\nNever commit a key.\n\n{filler}"), {"x": 1.0}
    )
    assert "Never commit a key." in text


@pytest.fixture(scope="module")
def model() -> EmbeddedReranker:
    return EmbeddedReranker.load()


def test_the_model_tells_an_answer_from_something_else(model: EmbeddedReranker) -> None:
    question = "how do I stop the dog from barking?"
    near = model.score(question, "To keep a dog quiet, reward it when it stops barking.")
    assert near > 0 > model.score(question, "Database migrations are reviewed by Anna.")


@pytest.mark.parametrize("text", ["", "\0", "\ud800", "漢字", "word " * 100_000])
def test_any_pair_has_a_score(model: EmbeddedReranker, text: str) -> None:
    assert np.isfinite(model.score(text, text))
    assert np.isfinite(model.score("question", text))


def test_a_long_text_is_cut_to_the_pair_limit() -> None:
    class Tokenizer:
        def encode(self, text: str) -> object:
            return type("Encoding", (), {"ids": list(range(len(text)))})()

    seen: list[int] = []

    class Watched:
        def get_inputs(self) -> list[object]:
            return [type("Input", (), {"name": "input_ids"})()]

        def run(self, _names: object, feed: dict[str, np.ndarray]) -> list[np.ndarray]:
            seen.append(feed["input_ids"].shape[1])
            return [np.zeros((1, 1))]

    EmbeddedReranker(Watched(), Tokenizer(), "0" * 64).score("q" * 5000, "t" * 5000)
    assert seen == [PAIR_TOKENS]


def test_a_passage_that_is_not_judged_is_not_made() -> None:
    machine = Machine(0.01)
    judge = judge_of(machine)
    judge.scores("question", ["a text"])
    made = []

    def texts() -> Iterator[str]:
        for number in range(30):
            made.append(number)
            yield "a text"

    assert len(judge.scores("question", texts(), machine.now + 0.055)) == 5
    assert made == list(range(6))


@pytest.mark.parametrize(
    ("text", "read"), [("zebra", False), ("deploy Friday", False), (EVERYTHING.text, True)]
)
def test_one_or_two_words_are_looked_up_and_not_read(index: Index, text: str, read: bool) -> None:
    machine = Machine()
    Pipeline(index, judge=judge_of(machine)).rank(Query(text, everything=True))
    assert bool(machine.texts) is read


def test_the_model_is_loaded_when_the_first_pair_is_judged_and_once(
    model: EmbeddedReranker, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[Path | None] = []
    monkeypatch.setattr(EmbeddedReranker, "load", lambda folder=None: loaded.append(folder) or model)
    waiting = OnDemand()
    assert waiting.id == model.id
    assert loaded == []
    question, text = "may I deploy on Friday?", "Never deploy on a Friday."
    for _ in range(2):
        assert Judge(waiting).scores(question, [text]) == {0: model.score(question, text)}
    assert len(loaded) == 1


def test_missing_weights_are_known_before_anybody_searches(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"model\.onnx cannot be read"):
        OnDemand(tmp_path)
