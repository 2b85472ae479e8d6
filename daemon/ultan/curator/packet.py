"""What a sealed piece of a session is made of: turns, and in each who said what."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

VERSION = 1

# user: typed by the person, about their own matter. pasted: in their prompt, but somebody else's words.
Speaker = Literal["user", "pasted", "assistant", "tool"]


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Span(Part):
    """A text and who said it; `tool` names the tool whose call or output it is."""

    speaker: Speaker
    text: str
    tool: str = ""


class Turn(Part):
    """What happened between one prompt of the person and the next, of one agent.

    seq: its number in the session, from 1 on, never given twice. agent_id: "" for the main agent; a
    subagent's turn holds no word of the person's. command: the slash command that the prompt is, or "".
    cwd: where it was typed. Private turns are not among them.
    """

    seq: int
    ts: str
    prompt_id: str = ""
    agent_id: str = ""
    agent_type: str = ""
    cwd: str = ""
    command: str = ""
    spans: tuple[Span, ...] = ()

    def said_by(self, *speakers: Speaker) -> str:
        """The texts of these speakers, in order, an empty line between two."""
        return "\n\n".join(span.text for span in self.spans if span.speaker in speakers)


class Packet(Part):
    """A sealed piece of one session, as the Librarian gets it.

    id: the name of its file below spool/packets/, without `.json`; the same for the same piece, however often
    it is sealed. project: the slug of the project that it happened in, "" for none; identities: what that
    project is known by. shown: ids of the entries that Ultan showed in this session so far. config_dir: the
    client's folder of settings that the session ran under, "" for the usual one. ended: the session is over.
    """

    v: int = VERSION
    id: str
    session_id: str
    created: str
    project: str = ""
    identities: tuple[str, ...] = ()
    cwd: str = ""
    config_dir: str = ""
    ended: bool = False
    shown: tuple[str, ...] = ()
    turns: tuple[Turn, ...] = ()

    @property
    def has_words(self) -> bool:
        """Whether the person said anything of their own; without that, no model is asked."""
        return any(turn.said_by("user").strip() for turn in self.turns)

    def turn(self, seq: int) -> Turn | None:
        """The main agent's turn of this number, else a subagent's."""
        found = [turn for turn in self.turns if turn.seq == seq]
        return next((turn for turn in found if not turn.agent_id), found[0] if found else None)
