from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ultan.library.entry import parse
from ultan.library.excerpt import excerpt, shorten


def of(body: str, limit: int = 280) -> str:
    return excerpt(parse("global/a.md", body.encode()), limit)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("# Title\n\nKeep it short.\n", "Keep it short."),
        ("Title\n\n## Why\n\nFast.\n\n## Rule\n\nUse uv.", "Use uv."),
        ("Context: an outage in May.\n\nNever deploy on Friday.", "Never deploy on Friday."),
        ("An outage in May was long.\n\nNever deploy on Friday.", "Never deploy on Friday."),
        ("No default exports. Names drift.", "No default exports. Names drift."),
        ("Use [[global/uv|uv]], see [[global/pip#x]] and [docs](https://x.y).", "Use uv, see pip and docs."),
        ("- Use tabs\n- Never spaces\n", "Use tabs; Never spaces"),
        ("Rules:\n1. Use tabs.\n2. Never spaces.", "Rules: Use tabs. Never spaces."),
        ("> Always\n> quote", "Always quote"),
        ("- [x] Use **bold** words", "Use bold words"),
        ("```bash\nuv add x\n```\n\nUse uv.", "Use uv."),
        ("```bash\nuv add x\nuv run y\n```\n", "uv add x uv run y"),
        ("Use uv.\n\n## Related\n\n- [[global/pip]]\n", "Use uv."),
        ("<!-- hidden -->Use uv.", "Use uv."),
        ("An aside.\n\n---\n\nUse uv.\n\n***\n", "Use uv."),
        (
            "本番環境へのデプロイは、必ず承認を得てから行う。",
            "本番環境へのデプロイは、必ず承認を得てから行う。",
        ),
        ("# Only a title\n", ""),
        ("", ""),
    ],
)
def test_the_excerpt_is_the_part_that_holds_the_rule(body: str, expected: str) -> None:
    assert of(body) == expected


def test_a_long_rule_is_cut_between_words_and_says_so() -> None:
    text = of("Use " + "words " * 100, 50)
    assert text.endswith("words…") and len(text) <= 50


@pytest.mark.parametrize(
    "cluster", ["e\u0301", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f44d\U0001f3fd"]
)
def test_a_cut_never_tears_a_character(cluster: str) -> None:
    for limit in range(2, 30):
        cut = shorten("x" + cluster * 20, limit)
        assert len(cut) <= limit
        assert (cut.removesuffix("…")[1:] == cluster * cut.count(cluster[0])) or len(cluster) > limit - 2


@given(st.text(max_size=200), st.integers(0, 100))
def test_any_body_gives_one_line_within_the_limit(body: str, limit: int) -> None:
    entry = parse("global/a.md", body.encode("utf-8", "replace"))
    text = excerpt(entry, limit)
    assert len(text) <= limit
    assert len(text.splitlines()) <= 1
