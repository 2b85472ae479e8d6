"""Fitting the gate: logistic regression on labelled prompts, judged on prompts that it was not fitted on.

refit.py, behind `ultan eval fit-gate`, writes what comes of it to gate.json.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ultan.retrieval import fields, gate
from ultan.retrieval.evaluate import Prompt, build, rank_all
from ultan.retrieval.metrics import LIMIT, RESAMPLES, Outcome, figures
from ultan.retrieval.models import Embedder, TokenEncoder
from ultan.retrieval.pipeline import Settings
from ultan.wire.home import Home

Floats = NDArray[np.float64]

FORM = ("approval", "chore", "fact")
PLAIN_FEATURES = ("dense", "words", "coverage", "stands_out", "project", *FORM, *fields.FEATURES)
FEATURES = (*PLAIN_FEATURES, "late", "late_stands_out", "late_margin")
WORD_FEATURES = ("words", "coverage", "project", *FORM)
# What shares only a common word is far down the list; among the first few the fit is a quieter one.
WORD_SHORTLIST = 10
ASKS, BARE = "asks", "bare"
RIDGE = 1.0
# The vector of a prompt has hundreds of dimensions, and there are not many more prompts.
ASKS_RIDGE = 300.0
FOLDS = 5
ASKS_FOLDS = 10
REPEATS = 2
# The threshold is the one of the best prime score, with something for precision (a wrong note costs trust),
# among those that leave this share of the easy negatives alone, on prompts that were not fitted on.
LEAST_SILENCE = 0.95
PRECISION_WORTH = 0.3
INTERVAL = ("prime_score_low", "prime_score_high")
KEPT = ("prime_score", "recall_at_3", "silence", "silence_easy", "silence_hard", "precision_at_3_all")


@dataclass(frozen=True, slots=True)
class Labelled:
    """One labelled set: its name, its entries and prompts, and how much a prompt of it counts."""

    name: str
    entries: Sequence[dict[str, object]]
    prompts: list[Prompt]
    weight: float


@dataclass(frozen=True, slots=True)
class Samples:
    """Candidates. values: float64[n, features]; label: bool[n], applies; group: int[n], its prompt. Of each
    prompt: its set, its weight, and its vector (float64[prompts, dims]; no columns without a model).
    """

    prompts: list[Prompt]
    sets: list[str]
    weight: Floats
    vectors: Floats
    ids: list[str]
    values: Floats
    label: NDArray[np.bool_]
    group: NDArray[np.intp]

    def part(self, keep: NDArray[np.bool_]) -> Samples:
        """The samples of some prompts. keep: bool[prompts]."""
        rows = keep[self.group]
        return Samples(
            [prompt for prompt, kept in zip(self.prompts, keep, strict=True) if kept],
            [name for name, kept in zip(self.sets, keep, strict=True) if kept],
            self.weight[keep],
            self.vectors[keep],
            [id for id, kept in zip(self.ids, rows, strict=True) if kept],
            self.values[rows],
            self.label[rows],
            (np.cumsum(keep) - 1)[self.group[rows]],
        )

    def of(self, name: str) -> NDArray[np.bool_]:
        """bool[prompts]: which belong to a set."""
        return np.array([one == name for one in self.sets])


def collect(
    labelled: Sequence[Labelled],
    embedder: Embedder | None,
    names: tuple[str, ...],
    encoder: TokenEncoder | None = None,
) -> Samples:
    """The evidence of every candidate of every prompt, as the pipeline finds it."""
    prompts: list[Prompt] = []
    sets: list[str] = []
    weight: list[float] = []
    ids, values, label, group = [], [], [], []
    for part in labelled:
        with tempfile.TemporaryDirectory(prefix="ultan-fit-") as folder:
            settings = Settings(shortlist=WORD_SHORTLIST) if embedder is None else None
            pipeline = build(Home(folder), part.entries, embedder, None, encoder, settings=settings)
            rankings = rank_all(pipeline, part.prompts)
        for number, ranking in enumerate(rankings, len(prompts)):
            grades = part.prompts[number - len(prompts)].grades
            for candidate in ranking.candidates:
                if all(name in candidate.scores for name in names):
                    ids.append(candidate.id)
                    values.append([candidate.scores[name] for name in names])
                    label.append(candidate.id in grades)
                    group.append(number)
        prompts += part.prompts
        sets += [part.name] * len(part.prompts)
        weight += [part.weight] * len(part.prompts)
    vectors = np.zeros((len(prompts), 0))
    if embedder is not None:
        vectors = np.array([embedder.embed_query(prompt.text) for prompt in prompts], dtype=np.float64)
    return Samples(
        prompts,
        sets,
        np.array(weight),
        vectors,
        ids,
        np.array(values),
        np.array(label, dtype=bool),
        np.array(group, dtype=np.intp),
    )


def regress(
    values: Floats, label: NDArray[np.bool_], weight: Floats, ridge: float = RIDGE
) -> tuple[float, Floats]:
    """(bias, weights) of a logistic by Newton's method, with a ridge on the weights of scaled features.

    weight: float64[n], how much each sample counts.
    """
    center, scale = values.mean(0), values.std(0) + 1e-9
    design = np.column_stack([np.ones(len(values)), (values - center) / scale])
    penalty = np.eye(design.shape[1]) * ridge
    penalty[0, 0] = 1e-6
    beta = np.zeros(design.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-np.clip(design @ beta, -30, 30)))
        curve = (design * (weight * chance * (1 - chance) + 1e-9)[:, None]).T @ design + penalty
        step = np.linalg.solve(curve, design.T @ (weight * (label - chance)) - penalty @ beta)
        beta += step
        if np.abs(step).max() < 1e-8:
            break
    weights = beta[1:] / scale
    return float(beta[0] - weights @ center), weights


def without_hints(labelled: Labelled) -> Labelled:
    """The same set, with entries of title and body alone, as people write them who are in a hurry."""
    stripped = [
        {key: value for key, value in entry.items() if key not in ("applies_when", "tags")}
        for entry in labelled.entries
    ]
    return replace(labelled, entries=stripped)


def offset(log_odds: Floats, label: NDArray[np.bool_], weight: Floats) -> float:
    """What must be added to log-odds so that they say how many apply (Newton's method in one dimension)."""
    added = 0.0
    for _ in range(50):
        chance = 1 / (1 + np.exp(-np.clip(log_odds + added, -30, 30)))
        step = float((weight * (label - chance)).sum() / ((weight * chance * (1 - chance)).sum() + 1e-9))
        added += step
        if abs(step) < 1e-8:
            break
    return added


def fit_asks(samples: Samples, keep: NDArray[np.bool_]) -> gate.Asks:
    """Whether a prompt has any note that applies, by its vector, from some of the prompts."""
    wanted = np.array([bool(prompt.grades) for prompt in samples.prompts])
    bias, weights = regress(samples.vectors[keep], wanted[keep], samples.weight[keep], ASKS_RIDGE)
    return gate.Asks(bias, weights)


def with_asks(samples: Samples, keep: NDArray[np.bool_]) -> Floats:
    """float64[n, features + 1]: the values and the log-odds of `asks`, for no prompt from a fit that saw it.

    keep: bool[prompts], those that may be fitted on; the others are judged by a fit on all of these.
    """
    if not samples.vectors.shape[1]:
        return samples.values
    asking = np.zeros(len(samples.prompts))
    fold = np.random.default_rng(7).permutation(len(asking)) % ASKS_FOLDS
    for number in range(ASKS_FOLDS):
        inside = keep & (fold == number)
        if inside.any():
            asks = fit_asks(samples, keep & (fold != number))
            asking[inside] = [asks.log_odds(vector) for vector in samples.vectors[inside]]
    if not keep.all():
        asks = fit_asks(samples, keep)
        asking[~keep] = [asks.log_odds(vector) for vector in samples.vectors[~keep]]
    return np.column_stack([samples.values, asking[samples.group]])


def predicted(samples: Samples, keep: NDArray[np.bool_]) -> Floats:
    """float64[n]: probabilities of all candidates by a fit on some of the prompts."""
    values, rows = with_asks(samples, keep), keep[samples.group]
    weight = samples.weight[samples.group]
    return chances(*regress(values[rows], samples.label[rows], weight[rows]), values)


def chances(bias: float, weights: Floats, values: Floats) -> Floats:
    """float64[n]: the probabilities of a fit."""
    found: Floats = 1 / (1 + np.exp(-(bias + values @ weights)))
    return found


def folds(samples: Samples, rng: np.random.Generator) -> NDArray[np.intp]:
    """int[prompts]: a fold each, every kind of prompt of every set spread over them."""
    kinds = np.array([f"{name} {p.kind}" for name, p in zip(samples.sets, samples.prompts, strict=True)])
    fold = np.zeros(len(kinds), dtype=np.intp)
    for kind in sorted(set(kinds)):
        members = np.flatnonzero(kinds == kind)
        fold[members] = (rng.permutation(len(members)) + rng.integers(FOLDS)) % FOLDS
    return fold


def unseen(samples: Samples, seed: int = 0, repeats: int = REPEATS) -> list[Floats]:
    """`repeats` times float64[n]: probabilities of candidates from fits without their prompts."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(repeats):
        fold = folds(samples, rng)
        row = np.zeros(len(samples.label))
        for number in range(FOLDS):
            out = fold[samples.group] == number
            row[out] = predicted(samples, fold != number)[out]
        found.append(row)
    return found


def scored(samples: Samples, probability: Floats, threshold: float, resamples: int = 0) -> dict[str, float]:
    """The figures of showing, for each prompt, its best candidates above a threshold; with resamples also the
    interval of the prime score.
    """
    surfaced: list[list[str]] = [[] for _ in samples.prompts]
    for place in np.argsort(-probability, kind="stable"):
        if probability[place] < threshold:
            break
        shown = surfaced[samples.group[place]]
        if len(shown) < LIMIT:
            shown.append(samples.ids[place])
    outcomes = [
        Outcome(prompt.kind, prompt.grades, tuple(shown))
        for prompt, shown in zip(samples.prompts, surfaced, strict=True)
    ]
    found = figures(outcomes, resamples=resamples)
    return {name: value for name, value in found.items() if isinstance(value, float)}


def choose(samples: Samples, rows: list[Floats]) -> float:
    """The threshold that is best for all sets together, on prompts that were not fitted on."""
    names = sorted(set(samples.sets))
    parts = [(samples.part(samples.of(name)), samples.of(name)[samples.group]) for name in names]
    best: tuple[float, float] | None = None
    for threshold in np.round(np.arange(0.10, 0.61, 0.01), 2):
        worth = 0.0
        for part, inside in parts:
            each = [scored(part, row[inside], float(threshold)) for row in rows]
            found = {name: float(np.mean([row[name] for row in each])) for name in KEPT}
            worth += found["prime_score"] + PRECISION_WORTH * found["precision_at_3_all"]
            worth -= 5 * max(0.0, LEAST_SILENCE - found["silence_easy"])
        if best is None or worth > best[0]:
            best = worth, float(threshold)
    assert best is not None
    return best[1]


def nested(samples: Samples, seed: int = 1) -> Floats:
    """float64[n]: probabilities from fits without the prompt, on a scale on which the threshold, which is
    chosen without it too, is 0.5."""
    outer = folds(samples, np.random.default_rng(seed))
    found = np.zeros(len(samples.label))
    for number in range(FOLDS):
        inside = samples.part(outer != number)
        threshold = choose(inside, unseen(inside, repeats=1))
        out = outer[samples.group] == number
        found[out] = gate.on_scale(predicted(samples, outer != number)[out], threshold, 0.5)
    return found


def by_set(
    samples: Samples, rows: list[Floats], threshold: float, resamples: int = 0
) -> dict[str, dict[str, float]]:
    """The figures of each set, the mean over `rows`."""
    kept = (*KEPT, *INTERVAL) if resamples else KEPT
    found = {}
    for name in dict.fromkeys(samples.sets):
        part, inside = samples.part(samples.of(name)), samples.of(name)[samples.group]
        each = [scored(part, row[inside], threshold, resamples) for row in rows]
        found[name] = {key: round(float(np.mean([row[key] for row in each])), 3) for key in kept}
    return found


def fit(
    labelled: Sequence[Labelled],
    embedder: Embedder | None,
    names: tuple[str, ...],
    encoder: TokenEncoder | None = None,
) -> dict[str, object]:
    """One set of gate.json."""
    samples = collect(labelled, embedder, names, encoder)
    everything = np.ones(len(samples.prompts), dtype=bool)
    values = with_asks(samples, everything)
    bias, weights = regress(values, samples.label, samples.weight[samples.group])
    rows = unseen(samples)
    threshold = choose(samples, rows)
    features = (*names, ASKS) if embedder is not None else names
    found: dict[str, object] = {
        "weights": {name: round(float(w), 4) for name, w in zip(features, weights, strict=True)},
        "bias": round(bias, 4),
        "threshold": threshold,
    }
    if "stands_out" in names:
        gap = samples.values[:, names.index("dense")] - samples.values[:, names.index("stands_out")]
        found["background"] = round(float(gap.mean()), 4)
    figures: dict[str, object] = {
        "fitted": by_set(samples, [chances(bias, weights, values)], threshold),
        "unseen_prompts": by_set(samples, rows, threshold),
        "unseen_prompts_and_threshold": by_set(samples, [nested(samples)], 0.5, RESAMPLES),
    }
    for other in labelled if len(labelled) > 1 else ():
        keep = ~samples.of(other.name)
        rest = samples.part(keep)
        row = gate.on_scale(predicted(samples, keep), choose(rest, unseen(rest)), 0.5)
        figures[f"fitted_without_{other.name}"] = {
            other.name: by_set(samples, [row], 0.5, RESAMPLES)[other.name]
        }
    found["figures"] = figures
    if embedder is not None:
        bare = collect([without_hints(one) for one in labelled], embedder, names, encoder)
        values = with_asks(bare, everything)
        more = offset(bias + values @ weights, bare.label, bare.weight[bare.group])
        held = found["weights"]
        assert isinstance(held, dict)
        held[BARE] = round(more, 4)
        found_bare = chances(bias + more, weights, values)
        figures["fitted_without_hints"] = by_set(bare, [found_bare], threshold)
        asks = fit_asks(samples, everything)
        found[ASKS] = {"bias": round(asks.bias, 4), "weights": [round(float(w), 3) for w in asks.weights]}
    return found
