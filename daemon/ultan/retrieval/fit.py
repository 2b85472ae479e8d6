"""Fitting the gate: logistic regression on labelled prompts, judged on prompts that it was not fitted on.

`python -m ultan.retrieval.fit ENTRIES.jsonl PROMPTS.jsonl` fits the sets of the embedder that ships and of
the words alone, and writes gate.json; run it after any change to tokens, evidence, fusion or model.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ultan.retrieval import gate
from ultan.retrieval.embedded import EmbeddedEmbedder
from ultan.retrieval.evaluate import Prompt, build, rank_all, read_lines, read_prompts
from ultan.retrieval.metrics import LIMIT, Outcome, figures
from ultan.retrieval.models import Embedder
from ultan.wire.home import Home

Floats = NDArray[np.float64]

FORM = ("approval", "chore", "fact")
FEATURES = ("dense", "words", "coverage", "stands_out", "project", *FORM)
WORD_FEATURES = ("words", "coverage", "project", *FORM)
RIDGE = 1.0
FOLDS = 5
REPEATS = 8
# The threshold is the one of the best prime score, with something for precision (a wrong note costs trust),
# among those that leave this share of the easy negatives alone, on prompts that were not fitted on.
LEAST_SILENCE = 0.95
PRECISION_WORTH = 0.3


@dataclass(frozen=True, slots=True)
class Samples:
    """Candidates. values: float64[n, features]; label: bool[n], applies; group: int[n], its prompt."""

    prompts: list[Prompt]
    names: tuple[str, ...]
    ids: list[str]
    values: Floats
    label: NDArray[np.bool_]
    group: NDArray[np.intp]


def collect(
    entries: Sequence[dict[str, object]],
    prompts: list[Prompt],
    embedder: Embedder | None,
    names: tuple[str, ...],
) -> Samples:
    """The evidence of every candidate of every prompt, as the pipeline finds it."""
    ids, values, label, group = [], [], [], []
    with tempfile.TemporaryDirectory(prefix="ultan-fit-") as folder:
        pipeline = build(Home(folder), entries, embedder)
        for number, ranking in enumerate(rank_all(pipeline, prompts)):
            for candidate in ranking.candidates:
                if all(name in candidate.scores for name in names):
                    ids.append(candidate.id)
                    values.append([candidate.scores[name] for name in names])
                    label.append(candidate.id in prompts[number].grades)
                    group.append(number)
    return Samples(
        prompts, names, ids, np.array(values), np.array(label, dtype=bool), np.array(group, dtype=np.intp)
    )


def regress(values: Floats, label: NDArray[np.bool_], ridge: float = RIDGE) -> tuple[float, Floats]:
    """(bias, weights) of a logistic by Newton's method, with a ridge on the weights of scaled features."""
    center, scale = values.mean(0), values.std(0) + 1e-9
    design = np.column_stack([np.ones(len(values)), (values - center) / scale])
    penalty = np.eye(design.shape[1]) * ridge
    penalty[0, 0] = 1e-6
    beta = np.zeros(design.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-design @ beta))
        curve = (design * (chance * (1 - chance) + 1e-9)[:, None]).T @ design + penalty
        step = np.linalg.solve(curve, design.T @ (label - chance) - penalty @ beta)
        beta += step
        if np.abs(step).max() < 1e-9:
            break
    weights = beta[1:] / scale
    return float(beta[0] - weights @ center), weights


def chances(bias: float, weights: Floats, values: Floats) -> Floats:
    """float64[n]: the probabilities of a fit."""
    found: Floats = 1 / (1 + np.exp(-(bias + values @ weights)))
    return found


def unseen(samples: Samples, seed: int = 0) -> list[Floats]:
    """REPEATS times float64[n]: probabilities of candidates from fits without their prompts, in FOLDS folds,
    every kind of prompt spread over them."""
    rng = np.random.default_rng(seed)
    kinds = np.array([prompt.kind for prompt in samples.prompts])
    found = []
    for _ in range(REPEATS):
        fold = np.zeros(len(kinds), dtype=int)
        for kind in sorted(set(kinds)):
            members = np.flatnonzero(kinds == kind)
            fold[members] = (rng.permutation(len(members)) + rng.integers(FOLDS)) % FOLDS
        row = np.zeros(len(samples.label))
        for number in range(FOLDS):
            out = fold[samples.group] == number
            if out.any() and samples.label[~out].any():
                row[out] = chances(*regress(samples.values[~out], samples.label[~out]), samples.values[out])
        found.append(row)
    return found


def scored(samples: Samples, probability: Floats, threshold: float) -> dict[str, float]:
    """The figures of showing, for each prompt, its best candidates above a threshold."""
    surfaced: list[list[str]] = [[] for _ in samples.prompts]
    for place in np.argsort(-probability, kind="stable"):
        shown = surfaced[samples.group[place]]
        if probability[place] >= threshold and len(shown) < LIMIT:
            shown.append(samples.ids[place])
    outcomes = [
        Outcome(prompt.kind, prompt.grades, tuple(shown))
        for prompt, shown in zip(samples.prompts, surfaced, strict=True)
    ]
    return {name: value for name, value in figures(outcomes, resamples=0).items() if isinstance(value, float)}


def choose(samples: Samples, rows: list[Floats]) -> tuple[float, dict[str, float]]:
    """(threshold, mean figures on unseen prompts at it)."""
    best: tuple[float, float, dict[str, float]] | None = None
    for threshold in np.round(np.arange(0.10, 0.71, 0.01), 2):
        each = [scored(samples, row, float(threshold)) for row in rows]
        found = {name: float(np.mean([row[name] for row in each])) for name in each[0]}
        worth = found["prime_score"] + PRECISION_WORTH * found["precision_at_3_all"]
        worth -= 5 * max(0.0, LEAST_SILENCE - found["silence_easy"])
        if best is None or worth > best[0]:
            best = worth, float(threshold), found
    assert best is not None
    return best[1], best[2]


def nested(samples: Samples, seed: int = 1) -> dict[str, float]:
    """Figures with the threshold, too, chosen without the prompts that are scored."""
    rng = np.random.default_rng(seed)
    outer = rng.permutation(len(samples.prompts)) % FOLDS
    probability = np.zeros(len(samples.label))
    for number in range(FOLDS):
        keep = outer[samples.group] != number
        inside = Samples(
            [p for p, fold in zip(samples.prompts, outer, strict=True) if fold != number],
            samples.names,
            [id for id, kept in zip(samples.ids, keep, strict=True) if kept],
            samples.values[keep],
            samples.label[keep],
            (np.cumsum(outer != number) - 1)[samples.group[keep]],
        )
        threshold, _ = choose(inside, unseen(inside)[:3])
        row = chances(*regress(inside.values, inside.label), samples.values[~keep])
        # One scale for all folds: their thresholds become 0.5.
        probability[~keep] = gate.on_scale(row, threshold, 0.5)
    return scored(samples, probability, 0.5)


def fit(
    entries: Sequence[dict[str, object]],
    prompts: list[Prompt],
    embedder: Embedder | None,
    names: tuple[str, ...],
) -> dict[str, object]:
    """One set of gate.json."""
    samples = collect(entries, prompts, embedder, names)
    bias, weights = regress(samples.values, samples.label)
    threshold, on_unseen = choose(samples, unseen(samples))
    kept = ("prime_score", "recall_at_3", "silence", "silence_easy", "silence_hard", "precision_at_3_all")
    fitted = scored(samples, chances(bias, weights, samples.values), threshold)
    all_nested = [nested(samples, seed) for seed in range(4)]
    found: dict[str, object] = {
        "weights": {name: round(float(w), 4) for name, w in zip(names, weights, strict=True)},
        "bias": round(bias, 4),
        "threshold": threshold,
    }
    if "stands_out" in names:
        gap = samples.values[:, names.index("dense")] - samples.values[:, names.index("stands_out")]
        found["background"] = round(float(gap.mean()), 4)
    found["figures"] = {
        "fitted": {name: round(fitted[name], 3) for name in kept},
        "unseen_prompts": {name: round(on_unseen[name], 3) for name in kept},
        "unseen_prompts_and_threshold": {
            name: round(float(np.mean([row[name] for row in all_nested])), 3) for name in kept
        },
    }
    return found


def main(arguments: Sequence[str]) -> None:
    """Fit on the given files and write gate.json."""
    entries, prompts = read_lines(arguments[0], ("id", "title")), read_prompts(arguments[1])
    embedder = EmbeddedEmbedder.load()
    how = " ".join(
        f"""Logistic regression (ridge {RIDGE:g} on scaled features) over the candidates of {len(prompts)}
        labelled prompts (tests/evals/priming); a candidate applies if it has any label. The threshold
        has the best prime_score + {PRECISION_WORTH:g} * precision among those with silence_easy >=
        {LEAST_SILENCE:g} on unseen prompts ({FOLDS} folds, {REPEATS} times).
        unseen_prompts_and_threshold: the threshold, too, is chosen without the scored prompts. The word
        lists that tell a prompt's form were written with these prompts known. Refit: python -m
        ultan.retrieval.fit ENTRIES.jsonl PROMPTS.jsonl""".split()
    )
    sets = {
        embedder.id.partition("/")[0]: fit(entries, prompts, embedder, FEATURES),
        gate.WORDS: fit(entries, prompts, None, WORD_FEATURES),
    }
    text = json.dumps({"format": 1, "how": how, "sets": sets}, indent=1)
    gate.PATH.write_text(text + "\n", "utf-8")
    print(text)


if __name__ == "__main__":
    main(sys.argv[1:])
