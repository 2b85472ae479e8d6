"""The only place that says whether an action is carried out, put before the person, or dropped.

It looks at what the action does, to what, and on whose word; never at how risky a model says it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ultan.curator.grounding import Source

# apply: carry it out. propose: the person decides. skip: nothing to do. refuse: it must not happen.
Verb = Literal["apply", "propose", "skip", "refuse"]

# What destroys or restructures; the person decides, whoever asked for it.
RESTRUCTURES = frozenset(("archive_entry", "split_folder", "merge_entries", "move_entry", "abstract_entries"))
# Counts an entry's use, changes nothing that it says.
COUNTS = frozenset(("reinforce", "mark_used"))
# Needs no word of anybody's: it adds no claim.
UNGROUNDED = frozenset((*RESTRUCTURES, "add_wikilink", "write_readme"))
# What only the person's own words may make or change.
RULES = frozenset(("convention", "preference", "warning", "abstraction", "reference"))


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of one action by program.

    kind: its `action`. type: of the entry that it makes or changes, "" for none. source: who said the
    strongest of its evidence; says_more: its text holds what the person did not say. invalid: what is wrong
    with it, "" for nothing. duplicate: id of an entry that says the same. refused: why its text may not be
    kept again (rejected, forgotten). approval, pinned, hand_edited, block: what an entry is that it touches.
    changed: what it was decided on is no longer so. successor: whether a deprecation names what holds.
    shown: whether the entry was shown in the session; counted: whether this use was counted before.
    makes_block: a trigger that stops the tool. readme_prose: the folder has a text of the person's own.
    review: `autonomy = "review"`.
    """

    kind: str
    type: str = ""
    source: Source = "nowhere"
    says_more: bool = False
    invalid: str = ""
    duplicate: str = ""
    refused: str = ""
    approval: bool = False
    pinned: bool = False
    hand_edited: bool = False
    block: bool = False
    changed: bool = False
    successor: bool = False
    shown: bool = False
    counted: bool = False
    makes_block: bool = False
    readme_prose: bool = False
    review: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do, and why in one line."""

    verb: Verb
    why: str


def decide(facts: Facts) -> Decision:
    """What becomes of an action. The first rule that speaks about it counts."""
    if facts.kind == "noop":
        return Decision("skip", "there was nothing to keep")
    if facts.invalid:
        return Decision("refuse", facts.invalid)
    if facts.refused:
        return Decision("skip", facts.refused)
    if facts.duplicate:
        return Decision("skip", f"{facts.duplicate} says this already")
    if facts.kind in COUNTS:
        return _count(facts)
    grounded = Decision("apply", "") if facts.kind in UNGROUNDED else _by_ground(facts)
    if grounded.verb != "apply":
        return grounded
    held = _held_back(facts)
    if held:
        return Decision("propose", held)
    return Decision("apply", grounded.why or "it adds no claim of its own")


def _count(facts: Facts) -> Decision:
    if facts.kind == "mark_used":
        if not facts.shown:
            return Decision("refuse", "the entry was not shown in this session")
        if facts.counted:
            return Decision("skip", "this use was counted already")
        if facts.approval:
            return Decision("skip", "the entry is changed by the person alone")
        return Decision("apply", "the agent relied on it")
    if facts.source == "approval":
        return Decision("skip", "a bare approval says nothing again")
    if facts.source != "person":
        return Decision("refuse", f"only the person can say it again; these are words of: {facts.source}")
    if facts.approval or facts.review:
        return Decision("propose", _review(facts) or "the entry is changed by the person alone")
    return Decision("apply", "the person said it again")


def _by_ground(facts: Facts) -> Decision:
    """What the source of the evidence allows."""
    rule = facts.type in RULES or facts.kind in ("set_trigger", "nudge")
    match facts.source:
        case "person" if facts.says_more and facts.kind == "nudge":
            return Decision("refuse", "it says more than the person said")
        case "person" if facts.says_more:
            return Decision("propose", "it says more than the person said")
        case "person":
            return Decision("apply", "the person said so")
        case "approval" if facts.kind == "nudge":
            return Decision("refuse", "it stands on a bare approval alone")
        case "approval":
            return Decision("propose", "it stands on a bare approval alone")
        case "assistant" | "tool" | "pasted" if facts.kind == "create_entry" and not rule:
            return Decision("propose", f"a finding on the word of: {facts.source}")
        case "assistant" | "tool" | "pasted":
            return Decision(
                "refuse", f"only the person's own words do this; these are words of: {facts.source}"
            )
        case _:
            return Decision("refuse", "its evidence does not stand in what was heard")


def _held_back(facts: Facts) -> str:
    """Why the person is asked though the ground is good; "" where they need not be."""
    if facts.kind in RESTRUCTURES:
        return "it rearranges the library"
    if facts.kind == "deprecate_entry" and not facts.successor:
        return "it takes an entry out of use and names none that holds instead"
    if facts.approval:
        return "the entry is changed by the person alone"
    if facts.pinned:
        return "the entry is pinned"
    if facts.block:
        return "the entry can stop a tool"
    if facts.hand_edited:
        return "the entry was written or edited by hand"
    if facts.makes_block:
        return "it would stop a tool"
    if facts.says_more:
        return "it says more than the entries do"
    if facts.readme_prose:
        return "the folder has a text of the person's own"
    if facts.changed:
        return "the entry was changed since it was read"
    return _review(facts) if facts.kind != "nudge" else ""


def _review(facts: Facts) -> str:
    return 'every change is reviewed (autonomy = "review")' if facts.review else ""
