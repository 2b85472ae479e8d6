"""What the names of scores, features and priors mean, in a few plain words; an unknown name is its own."""

from __future__ import annotations

MEANINGS = {
    "bm25": "its words, the rare ones most",
    "lexical": "its words alone",
    "dense": "its meaning",
    "fused": "words and meaning together",
    "late": "its meaning, word by word",
    "rerank": "how well it answers, read together with the prompt",
    "words": "words that it shares with the prompt",
    "coverage": "how much of the prompt it holds",
    "in_title": "how much of the prompt its title holds",
    "in_applies": "how much of the prompt its `applies_when` holds",
    "in_tags": "how much of the prompt its tags hold",
    "in_body": "how much of the prompt its body holds",
    "of_title": "how much of its title the prompt holds",
    "of_applies": "how much of its `applies_when` the prompt holds",
    "of_tags": "how much of its tags the prompt holds",
    "of_body": "how much of its body the prompt holds",
    "named": "it holds a name of the prompt, letter by letter",
    "stands_out": "how far its meaning stands out",
    "reranked": "there was time to read it closely",
    "project": "it is a note of this project",
    "asks": "whether notes apply to such a prompt",
    "approval": "the prompt only agrees or moves on",
    "chore": "the prompt is an errand that says all it needs",
    "fact": "the prompt asks for a fact",
    "bias": "where every note starts",
    "scale": "such a model has another threshold",
    "reinforced": "how often you said it again",
    "project_scope": "it is a note of this project",
    "usefulness": "how often it was of use where it was shown",
    "encoding_strength": "how firmly it was said",
}
_LEAD, _ABOVE = "_margin", "_stands_out"


def meaning(name: str) -> str:
    """`late_margin` and the like are told by what they are made of."""
    if name in MEANINGS:
        return MEANINGS[name]
    if name.endswith(_LEAD):
        return f"{name.removesuffix(_LEAD)}: its lead over the best of the others"
    if name.endswith(_ABOVE):
        return f"{name.removesuffix(_ABOVE)}: how far above its neighbours"
    return name.replace("_", " ")
