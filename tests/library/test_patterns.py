"""Which patterns are held against commands, and which are refused."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ultan.library.patterns import LONGEST, check

ENDLESS = (
    r"echo (a+)+$",
    r"(x|xx)+y",
    r"(a*)*b",
    r"^(([a-z])+.)+[A-Z]([a-z])+$",
    r"(\w+\s?)*!x",
    r"(.*a){15}x",
    r"(?:[^\"\\]|\\.|\\)*\"z",
    r"(\d+|\w+)+!",
    r"(a{1,30}){1,30}b",
    r"(?:rm|r|m)+ -rf",
    r"(?i)(Ab|a.)+c",
    r"(?=(a+)+$)ab",
)
SOUND = (
    r"\bpip install\b",
    r"rm\s+-rf\s+/(\s|$)",
    r"git push.*--force",
    r"(foo\s+)*bar",
    r'("[^"]*"\s*)+x',
    r"kubectl (apply|delete) .*prod",
    r"(-\w+\s+)*install",
    r"([a-z]+=[a-z]+&)+x",
    r"(?:\S+\s+)*--force",
    r"(?i)drop\s+table",
    r"^echo ",
    r"(a|a)*b",
)


@pytest.mark.parametrize("pattern", ENDLESS)
def test_a_pattern_that_can_take_forever_is_refused(pattern: str) -> None:
    assert "forever" in check(pattern).refused


@pytest.mark.parametrize("pattern", SOUND)
def test_a_sound_pattern_is_taken(pattern: str) -> None:
    assert check(pattern).refused == ""


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("([unclosed", "not valid"),
        ("a{2,1}", "not valid"),
        ("", "empty text"),
        ("a*|b", "empty text"),
        ("(?!x)", "empty text"),
        ("a++b", "3.11"),
        ("(?:x(?>a))b", "3.11"),
        ("x" * (LONGEST + 1), "characters"),
        ("(?P<n>x)(?(n)y|z)", "too complex"),
        ("(" * 300 + "a" + ")" * 300 + "[", "not valid"),
        ("|".join(f"(ab{n}c*)*z" for n in range(90)), ""),
    ],
)
def test_what_is_refused_says_why(pattern: str, why: str) -> None:
    assert why in check(pattern).refused and check(pattern).refused


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        (r"\bpip install\b", ("pip install",)),
        (r"git push.*--force", ("git push",)),
        (r"(?i)DROP\s+TABLE", ("table",)),
        (r"docker (rm|kill) -f", ("docker ",)),
        (r"(apply|delete)\s", ("apply", "delete")),
        (r"(apply|.)\s", ()),
        (r"(prod)?uction+s", ("uctio",)),
        (r"\w+", ()),
        (r"x", ()),
        (r"(?!never)anything", ("anything",)),
        (r"(?:abc){0,3}de", ("de",)),
    ],
)
def test_a_pattern_tells_what_its_matches_must_hold(pattern: str, literals: tuple[str, ...]) -> None:
    assert check(pattern).literals == literals


_PIECES = st.sampled_from(["a", "b", "ab", "[ab]", ".", r"\w", r"\s", "(?:a|ab)", "x", "ba", "^", "$"])
_QUANTIFIED = st.builds(
    lambda parts, how: f"(?:{''.join(parts)}){how}",
    st.lists(_PIECES, min_size=1, max_size=3),
    st.sampled_from(["", "+", "*", "?", "{1,3}", "{2,}"]),
)
PATTERNS = st.recursive(
    _PIECES | _QUANTIFIED,
    lambda inner: st.builds(
        lambda parts, how: f"(?:{''.join(parts)}){how}",
        st.lists(inner, min_size=1, max_size=3),
        st.sampled_from(["", "+", "*", "?", "|b)(?:a"]),
    ),
    max_leaves=8,
)


@settings(max_examples=400, deadline=None)
@given(PATTERNS)
def test_what_is_not_refused_ends_on_hostile_texts(pattern: str) -> None:
    if check(pattern).refused:
        return
    compiled = re.compile(pattern)
    begun = time.process_time()
    for text in ("a" * 28 + "!", "ab" * 14 + "!", "b" * 28, "a b" * 9 + "!", "xx" * 14):
        compiled.fullmatch(text)
    # Polynomial at worst; an endless one would need hours for the first text alone.
    assert time.process_time() - begun < 5


@settings(max_examples=300, deadline=None)
@given(PATTERNS, st.text("abx !", max_size=30))
def test_whatever_a_pattern_matches_holds_one_of_its_literals(pattern: str, text: str) -> None:
    found = check(pattern)
    if found.literals and re.search(pattern, text):
        assert any(literal in text.casefold() for literal in found.literals)
