"""What the curator's models may ask for. They write nothing: code checks each action and carries it out.

The schema that a model sees is made from these classes, so their docstrings and descriptions are part of the
prompts.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

EntryId = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Body = Annotated[str, StringConstraints(min_length=1, max_length=12_000)]
EntryType = Literal["convention", "preference", "finding", "warning", "reference"]
Signal = Literal["contradicts", "novel", "reinforces", "used_helpfully", "drift"]
Severity = Literal["advise", "block"]


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Evidence(Part):
    """Words that stand in the packet, copied exactly, and the number of the turn they stand in."""

    quote: str = Field(
        min_length=1, max_length=1000, description="exact words out of the turn, not a summary"
    )
    turn: int = Field(ge=0, description="the turn's number as the packet gives it")


class TriggerPattern(Part):
    """A pattern for a command or another tool's field, matched before the tool runs."""

    tool: str = Field(default="Bash", max_length=200)
    field: str = Field(default="command", max_length=200)
    pattern: str = Field(
        min_length=1, max_length=500, description="a regular expression with a literal word in it"
    )


class Act(Part):
    """The base of all actions."""

    signal: Signal | None = Field(default=None, description="which signal of salience this is")
    evidence: tuple[Evidence, ...] = Field(default=(), max_length=8)


class CreateEntry(Act):
    """Write a new entry. One rule or finding, in the fewest words that hold it, as the person meant it."""

    action: Literal["create_entry"]
    id: EntryId = Field(
        description="global/<topic>/<name> or projects/<slug>/<topic>/<name>: lower case, hyphens, no .md"
    )
    title: Line
    type: EntryType
    applies_when: str = Field(
        default="", max_length=300, description="when somebody needs it, in a few words"
    )
    tags: tuple[Line, ...] = Field(default=(), max_length=8)
    body: Body
    links: tuple[EntryId, ...] = Field(default=(), max_length=8, description="ids of related entries")
    contradicts: tuple[EntryId, ...] = Field(
        default=(), max_length=8, description="ids of entries that are no longer true because of this one"
    )


class UpdateEntry(Act):
    """Give an entry another text. Whatever still holds must stay in it."""

    action: Literal["update_entry"]
    id: EntryId
    title: Line | None = None
    applies_when: str | None = Field(default=None, max_length=300)
    tags: tuple[Line, ...] | None = Field(default=None, max_length=8)
    body: Body | None = None


class Reinforce(Act):
    """The person said again what an entry says already."""

    action: Literal["reinforce"]
    id: EntryId


class MarkUsed(Act):
    """The agent relied on an entry that it was shown, and it helped."""

    action: Literal["mark_used"]
    id: EntryId


class DeprecateEntry(Act):
    """An entry is no longer true. `successor`: the entry that is, if there is one."""

    action: Literal["deprecate_entry"]
    id: EntryId
    successor: EntryId | None = None
    reason: Line


class MergeEntries(Act):
    """Several entries say one thing: put all of what they say into one of them, `into`."""

    action: Literal["merge_entries"]
    ids: tuple[EntryId, ...] = Field(min_length=2, max_length=8, description="all of them, `into` among them")
    into: EntryId
    title: Line
    applies_when: str = Field(default="", max_length=300)
    tags: tuple[Line, ...] = Field(default=(), max_length=8)
    body: Body


class SplitFolder(Act):
    """A folder holds too much: give each entry its place in a new subfolder."""

    action: Literal["split_folder"]
    folder: EntryId
    moves: dict[EntryId, EntryId] = Field(min_length=1, max_length=50, description="old id to new id")


class MoveEntry(Act):
    """An entry stands in the wrong place."""

    action: Literal["move_entry"]
    id: EntryId
    to: EntryId


class AddWikilink(Act):
    """Two entries belong together and don't say so yet."""

    action: Literal["add_wikilink"]
    id: EntryId
    to: EntryId


class AbstractEntries(Act):
    """Several entries follow from one more general rule, which none of them says."""

    action: Literal["abstract_entries"]
    children: tuple[EntryId, ...] = Field(min_length=2, max_length=12)
    id: EntryId
    title: Line
    applies_when: str = Field(default="", max_length=300)
    tags: tuple[Line, ...] = Field(default=(), max_length=8)
    body: Body
    cohesion: float = Field(default=0.5, ge=0, le=1)


class ArchiveEntry(Act):
    """An entry is of no more use."""

    action: Literal["archive_entry"]
    id: EntryId
    reason: Line


class ResurrectEntry(Act):
    """An archived entry is true or needed again. `id`: as it was before it was archived."""

    action: Literal["resurrect_entry"]
    id: EntryId


class SetTrigger(Act):
    """Let an entry speak up before a command that it is about. Only for a rule about that very command."""

    action: Literal["set_trigger"]
    id: EntryId
    patterns: tuple[TriggerPattern, ...] = Field(min_length=1, max_length=5)
    severity: Severity = "advise"


class WriteReadme(Act):
    """Say in a sentence or two what a folder is about."""

    action: Literal["write_readme"]
    folder: EntryId
    text: str = Field(min_length=1, max_length=1000)


class Nudge(Act):
    """Tell the agent one line with the person's next prompt, in this session only."""

    action: Literal["nudge"]
    text: Line


class Noop(Act):
    """Nothing in the packet is worth keeping. `reason`: why, in a few words."""

    action: Literal["noop"]
    reason: Line


Action = Annotated[
    CreateEntry
    | UpdateEntry
    | Reinforce
    | MarkUsed
    | DeprecateEntry
    | MergeEntries
    | SplitFolder
    | MoveEntry
    | AddWikilink
    | AbstractEntries
    | ArchiveEntry
    | ResurrectEntry
    | SetTrigger
    | WriteReadme
    | Nudge
    | Noop,
    Field(discriminator="action"),
]


class Proposal(Part):
    """What the Librarian submits: the actions for one packet, in the order in which they are to happen."""

    actions: tuple[Action, ...] = Field(min_length=1, max_length=12)


class Judged(Part):
    """The Scholar's word on one packet's proposal. `drop`: numbers of actions (from 0) not to carry out."""

    packet: str
    verdict: Literal["approve", "veto"]
    drop: tuple[int, ...] = ()
    reason: Line


class Verdicts(Part):
    """What the Scholar submits: one verdict for each packet that it was given."""

    verdicts: tuple[Judged, ...] = Field(min_length=1)


def targets(action: Act) -> tuple[str, ...]:
    """The ids of the existing entries that an action reads or changes, in order, each once."""
    found: list[str] = []
    for name in ("id", "into", "successor", "to"):
        value = getattr(action, name, None)
        creates = isinstance(action, CreateEntry | AbstractEntries) and name == "id"
        moves = isinstance(action, MoveEntry) and name == "to"
        if isinstance(value, str) and not creates and not moves:
            found.append(value)
    for name in ("ids", "children", "contradicts", "links"):
        found.extend(getattr(action, name, ()))
    if isinstance(action, SplitFolder):
        found.extend(action.moves)
    return tuple(dict.fromkeys(found))


def of(values: dict[str, Any]) -> Act:
    """The action that a kept record holds. Raises pydantic.ValidationError."""
    return Proposal.model_validate({"actions": [values]}).actions[0]
