"""The policy: what is applied, proposed, skipped and refused."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ultan.curator.grounding import Source
from ultan.curator.policy import COUNTS, RESTRUCTURES, RULES, UNGROUNDED, Facts, decide

KINDS = (
    "create_entry update_entry reinforce mark_used deprecate_entry merge_entries split_folder move_entry "
    "add_wikilink abstract_entries archive_entry resurrect_entry set_trigger write_readme nudge noop"
).split()
SAID = Facts("create_entry", "convention", "person")
FLAGS = ("approval", "pinned", "hand_edited", "block", "changed", "makes_block", "readme_prose", "review")


@pytest.mark.parametrize(
    ("facts", "verb"),
    [
        (SAID, "apply"),
        (Facts("noop"), "skip"),
        (replace(SAID, invalid="no"), "refuse"),
        (replace(SAID, refused="the person rejected this"), "skip"),
        (replace(SAID, duplicate="global/a"), "skip"),
        (replace(SAID, says_more=True), "propose"),
        (replace(SAID, source="approval"), "propose"),
        (replace(SAID, source="assistant"), "refuse"),
        (replace(SAID, source="tool", type="finding"), "propose"),
        (replace(SAID, source="pasted", type="finding"), "propose"),
        (replace(SAID, source="nowhere", type="finding"), "refuse"),
        (Facts("update_entry", "finding", "tool"), "refuse"),
        (Facts("reinforce", "convention", "person", hand_edited=True, pinned=True), "apply"),
        (Facts("reinforce", "convention", "assistant"), "refuse"),
        (Facts("reinforce", "convention", "approval"), "skip"),
        (Facts("mark_used", "convention", "assistant", shown=True), "apply"),
        (Facts("mark_used", "convention", "assistant", shown=True, counted=True), "skip"),
        (Facts("mark_used", "convention", "assistant"), "refuse"),
        (Facts("deprecate_entry", "convention", "person", successor=True), "apply"),
        (Facts("deprecate_entry", "convention", "person"), "propose"),
        (Facts("deprecate_entry", "convention", "tool", successor=True), "refuse"),
        (Facts("add_wikilink", "convention"), "apply"),
        (Facts("set_trigger", "warning", "person"), "apply"),
        (Facts("set_trigger", "warning", "person", makes_block=True), "propose"),
        (Facts("set_trigger", "finding", "tool"), "refuse"),
        (Facts("nudge", "", "person"), "apply"),
        (Facts("nudge", "", "approval"), "refuse"),
        (Facts("nudge", "", "tool"), "refuse"),
    ],
)
def test_what_becomes_of_it(facts: Facts, verb: str) -> None:
    assert decide(facts).verb == verb


any_facts = st.builds(
    Facts,
    kind=st.sampled_from(KINDS),
    type=st.sampled_from([*sorted(RULES), "finding", ""]),
    source=st.sampled_from(get_args(Source)),
    **{flag: st.booleans() for flag in (*FLAGS, "says_more", "successor", "shown", "counted")},
)


@given(any_facts)
def test_no_rule_is_written_on_anybody_elses_word(facts: Facts) -> None:
    """Only counts and what adds no claim are done without the person's own words."""
    if decide(facts).verb == "apply" and facts.source != "person":
        assert facts.kind == "mark_used" or facts.kind in UNGROUNDED


@given(any_facts)
def test_what_destroys_or_restructures_is_never_done_unasked(facts: Facts) -> None:
    if facts.kind in RESTRUCTURES:
        assert decide(facts).verb != "apply"


@given(any_facts)
def test_what_is_the_persons_own_is_never_changed_unasked(facts: Facts) -> None:
    if decide(facts).verb == "apply":
        assert not facts.approval
        assert not (facts.pinned or facts.hand_edited or facts.block) or facts.kind in COUNTS


@given(any_facts)
def test_review_lets_nothing_pass_but_uses_and_nudges(facts: Facts) -> None:
    if facts.review and decide(facts).verb == "apply":
        assert facts.kind in ("mark_used", "nudge")


@given(any_facts)
def test_a_reason_is_always_given(facts: Facts) -> None:
    assert decide(facts).why


@given(any_facts, st.sampled_from(FLAGS))
def test_no_flag_makes_it_bolder(facts: Facts, flag: str) -> None:
    order = ("refuse", "skip", "propose", "apply")
    with_flag, without = (decide(replace(facts, **{flag: on})).verb for on in (True, False))
    assert order.index(with_flag) <= order.index(without)
