"""A made-up library and made-up prompts of any size, the same for the same seed."""

from __future__ import annotations

import random
from pathlib import Path

TOPICS = {
    "python": "environment dependency lockfile virtualenv interpreter wheel import module typing decorator",
    "git": "branch commit rebase merge remote history squash signature tag conflict",
    "testing": "fixture assertion coverage mock snapshot flaky regression parametrize timeout seed",
    "deploy": "release rollout canary window approval rollback staging production freeze artifact",
    "databases": "migration index transaction replica vacuum schema constraint backfill lock query",
    "frontend": "component render state hook bundle stylesheet accessibility router cache hydration",
    "containers": "image layer registry volume network probe limit sidecar namespace entrypoint",
    "security": "token rotation secret header scope policy audit session encryption allowlist",
    "writing": "heading paragraph sentence audience draft review spelling diagram example changelog",
    "observability": "metric trace span log sampling dashboard alert budget cardinality exporter",
}
VERBS = (
    "use keep avoid prefer write check run move name split cache retry validate document measure pin".split()
)
FILLER = (
    "the a when because always never before after which must should only with without every whole until "
    "once team service module value file change result default reason problem morning week person machine"
).split()
PROJECTS = ("harbor", "lantern", "meadow", "orchard", "pepper", "quarry")


def words(rng: random.Random, count: int, topic: list[str], rare: list[str]) -> str:
    """`count` words of prose: mostly filler, some of the topic, a few rare ones that tell entries apart."""
    picked = []
    for _ in range(count):
        roll = rng.random()
        picked.append(
            rng.choice(rare if roll < 0.05 else topic if roll < 0.35 else VERBS if roll < 0.5 else FILLER)
        )
    return " ".join(picked)


def write_library(knowledge: Path, entries: int, seed: int = 7) -> list[str]:
    """Write `entries` markdown files of about 120 words; returns their titles."""
    rng = random.Random(seed)
    titles = []
    for number in range(entries):
        topic = rng.choice(list(TOPICS))
        vocabulary = TOPICS[topic].split()
        rare = [f"{rng.choice(VERBS)}_{rng.choice(vocabulary)}{rng.randrange(1000)}" for _ in range(6)]
        base = "global" if rng.random() < 0.5 else f"projects/{rng.choice(PROJECTS)}"
        title = " ".join([rng.choice(VERBS).capitalize(), *rng.choices(vocabulary, k=2), "with", rare[0]])
        scope = "global" if base == "global" else "project:" + base.split("/")[1]
        folder = knowledge / base / topic / f"part-{number % 8}"
        folder.mkdir(parents=True, exist_ok=True)
        text = (
            f"---\ntitle: {title}\ntype: preference\nscope: {scope}\n"
            f"applies_when: {words(rng, 10, vocabulary, rare)}\ntags: [{topic}]\nupdated: 2026-01-10\n---\n"
            f"{words(rng, 60, vocabulary, rare)}.\n\n{words(rng, 50, vocabulary, rare)}.\n"
        )
        (folder / f"entry-{number}.md").write_text(text, encoding="utf-8")
        titles.append(title)
    return titles


def prompts(titles: list[str], count: int, seed: int = 11) -> list[str]:
    """Prompts of mixed length: questions, paragraphs, long pastes; half of them near an entry."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        vocabulary = TOPICS[rng.choice(list(TOPICS))].split()
        near = rng.choice(titles).lower() if titles and rng.random() < 0.5 else ""
        length = rng.choice((5, 8, 12, 25, 60, 150, 600))
        found.append(f"{near} {words(rng, length, vocabulary, FILLER)}".strip())
    return found
