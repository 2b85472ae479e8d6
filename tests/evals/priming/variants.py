"""The labelled prompts as people also write them: around a long paste, and two in one."""

from __future__ import annotations

import random
from dataclasses import replace

from ultan.retrieval.evaluate import Prompt

_STATEMENTS = (
    "if isinstance(o, {}):",
    "    yield from _iter_{}(o, level)",
    "markers[id({})] = o",
    "def iterencode_{}(self, o, one_shot=False):",
    "    raise TypeError(f'{} is not serializable')",
    "separator = self.{}_separator + newline",
    "return _make_{}(markers, self.default)",
    "# {} keys come first",
    "for key, value in {}.items():",
)
_NAMES = ("dict", "list", "floatstr", "chunks", "items", "encoder", "scalar")
_EVENTS = (
    "connection accepted",
    "cache miss for key",
    "request finished",
    "retrying job",
    "user logged in",
    "queue is empty",
    "flush took long",
)
_JOINTS = (" Also, ", " Then ", " And also ", "\nAfter that ")


def behind_a_paste(prompts: list[Prompt], seed: int = 1) -> list[Prompt]:
    """Each with sixty lines of trace, log or code before or after it; the labels stay."""
    rng = random.Random(seed)
    found = []
    for prompt in prompts:
        paste = rng.choice([_trace, _log, _code])(rng)
        parts = [prompt.text, paste] if rng.random() < 0.6 else [paste, prompt.text]
        found.append(replace(prompt, text="\n\n".join(parts)))
    return found


def two_in_one(prompts: list[Prompt], seed: int = 2) -> list[Prompt]:
    """Those with notes that apply, two of a project each joined into one; the others as they are."""
    rng = random.Random(seed)
    projects: dict[str | None, list[Prompt]] = {}
    for prompt in prompts:
        if prompt.grades and prompt.kind != "nonenglish":
            projects.setdefault(prompt.project, []).append(prompt)
    found = [prompt for prompt in prompts if not prompt.grades]
    for held in projects.values():
        rng.shuffle(held)
        for one, other in zip(held[::2], held[1::2], strict=False):
            text = one.text.rstrip(".!? ") + "." + rng.choice(_JOINTS) + other.text
            ids = sorted({*one.grades, *other.grades})
            grades = {id: max(one.grades.get(id, 0), other.grades.get(id, 0)) for id in ids}
            found.append(replace(one, text=text, grades=grades, kind="multi"))
    return found


def _trace(rng: random.Random) -> str:
    lines = ["Traceback (most recent call last):"]
    for _ in range(30):
        place = f"{rng.choice(['views', 'core', 'models'])}/{rng.choice(['run', 'base', 'util'])}.py"
        lines.append(f'  File "/srv/app/lib/{place}", line {rng.randrange(900)}, in handle')
        lines.append("    " + _statement(rng).strip())
    return "\n".join([*lines, "ValueError: unexpected value 17 for field width"])


def _log(rng: random.Random) -> str:
    return "\n".join(
        f"2026-11-{rng.randrange(10, 29)} 12:{rng.randrange(10, 59)}:07 {rng.choice(['INFO', 'WARNING'])} "
        f"[{rng.choice(['http', 'db', 'worker'])}] {rng.choice(_EVENTS)} id={rng.randrange(10**6)}"
        for _ in range(60)
    )


def _code(rng: random.Random) -> str:
    return "\n".join(["```python", *(_statement(rng) for _ in range(80)), "```"])


def _statement(rng: random.Random) -> str:
    return rng.choice(_STATEMENTS).format(rng.choice(_NAMES))
