"""`ultan eval fit-gate`: fits every set of the gate that the settings can use, and writes gate.json.

To be run after any change to tokens, evidence, fusion or model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from ultan.retrieval import fit, gate
from ultan.retrieval.evaluate import read_lines, read_prompts
from ultan.retrieval.models import Embedder, TokenEncoder
from ultan.wire.files import write_atomic

HOW = f"""Logistic regression (ridge {fit.RIDGE:g} on scaled features) over the candidates of labelled
prompts: {{sizes}}; a candidate applies if it has any label. asks: a logistic (ridge
{fit.ASKS_RIDGE:g}) over the prompt's vector that says whether it has any note that applies; the gate
is fitted on what it says of prompts that it was not fitted on ({fit.ASKS_FOLDS} folds). The threshold has
the best prime_score + {fit.PRECISION_WORTH:g} * precision, summed over the sets, among those with
silence_easy >= {fit.LEAST_SILENCE:g} on unseen prompts ({fit.FOLDS} folds, {fit.REPEATS} times).
unseen_prompts_and_threshold: the threshold, too, is chosen without the scored prompts. fitted_without_X:
nothing of set X was seen. Their intervals: 95 %, by bootstrap. bare: fitted with all else fixed, on the same
prompts over the entries' titles and bodies alone; fitted_without_hints tells how these fare. {gate.PLAIN}:
for when there are no token vectors. The words alone are fitted on the first set: the second, of hard
negatives in plain English, teaches them a silence that other scripts pay for. The word lists that tell a
prompt's form (wire/form.py) were written with the prompts of tests/evals/priming known. Refit: ultan eval
fit-gate."""


def fit_gate(
    sets: Sequence[tuple[Path, Path, float]],
    out: Path,
    embedder: Embedder,
    encoder: TokenEncoder,
    say: Callable[[str], None],
) -> dict[str, object]:
    """Fit on (entries, prompts, how much a prompt counts) and write `out`; its sets of other models stay. The
    figures by set of the gate. Where `out` has a set for the words alone, that one is fitted too.

    say(text) is told what is done next. Raises BadData or OSError.
    """
    labelled = [
        fit.Labelled(
            prompts.resolve().parent.name, read_lines(entries, ("id", "title")), read_prompts(prompts), weight
        )
        for entries, prompts, weight in sets
    ]
    sizes = ", ".join(
        f"{len(one.prompts)} of {'/'.join(prompts.resolve().parts[-4:-1])} (weight {one.weight:g})"
        for one, (_, prompts, _) in zip(labelled, sets, strict=True)
    )
    held = json.loads(out.read_text("utf-8"))["sets"] if out.exists() else {}
    name = embedder.id.partition("/")[0]
    say(f"{name}, with token vectors")
    held[name] = fit.fit(labelled, embedder, fit.FEATURES, encoder)
    say(f"{name}, without")
    held[name + gate.PLAIN] = fit.fit(labelled, embedder, fit.PLAIN_FEATURES)
    if gate.WORDS in held:
        say("the words alone")
        held[gate.WORDS] = fit.fit(labelled[:1], None, fit.WORD_FEATURES)
    how = " ".join(HOW.format(sizes=sizes).split())
    text = json.dumps({"format": 1, "how": how, "sets": held}, indent=1)
    # One line for the hundreds of weights that nobody reads one by one.
    text = re.sub(r"\[\s+([-0-9.,\s]+?)\s+\]", lambda m: "[" + " ".join(m.group(1).split()) + "]", text)
    write_atomic(str(out), (text + "\n").encode(), 0o644)
    return {key: found["figures"] for key, found in held.items() if "figures" in found}
