"""What the curator's tests share: a packet in one line, a library of a few files, an executor over it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ultan.curator.accepting import accept
from ultan.curator.actions import Act, of
from ultan.curator.executor import Executor
from ultan.curator.grounding import plain
from ultan.curator.packet import Packet, Span, Turn
from ultan.curator.plan import Plan
from ultan.library.edit import render_new
from ultan.library.entry import body_hash, parse, set_field
from ultan.library.journal import Journal
from ultan.library.store import Store
from ultan.wire.home import Home

NOW = 1_796_650_000.0  # 2026-12-07


def packet(
    *turns: list[tuple[str, str]] | str, project: str = "shop", shown: tuple[str, ...] = (), **more: Any
) -> Packet:
    """A packet of turns: each a text of the person's, or a list of (speaker, text)."""
    made = []
    for seq, turn in enumerate(turns, 1):
        parts = [("user", turn)] if isinstance(turn, str) else turn
        spans = tuple(Span(speaker=speaker, text=text) for speaker, text in parts)  # type: ignore[arg-type]
        made.append(
            Turn(seq=seq, ts="2026-12-07T10:00:00Z", prompt_id=f"p-{seq}", cwd="/work/shop", spans=spans)
        )
    identities = (f"name:{project}",) if project else ()
    values = {"id": "p1", "session_id": "s-1", "created": "2026-12-07T10:00:00Z", **more}
    return Packet(project=project, identities=identities, shown=shown, turns=tuple(made), **values)


def act(action: str, quote: str = "", turn: int = 1, **fields: Any) -> Act:
    """An action with one quote as its evidence."""
    evidence = [{"quote": quote, "turn": turn}] if quote else []
    return of({"action": action, "evidence": evidence, **fields})


def create(id: str, body: str, quote: str, turn: int = 1, type: str = "convention", **fields: Any) -> Act:
    """A new entry whose title is its name."""
    title = fields.pop("title", id.rpartition("/")[2].replace("-", " "))
    return act("create_entry", quote, turn, id=id, title=title, type=type, body=body, **fields)


class Desk:
    """A library on the disk and an executor over it."""

    def __init__(self, home: Home, review: bool = False) -> None:
        self.home = home
        self.store = Store(home)
        self.journal = Journal(home, 5.0, "test")
        self.rejected: set[str] = set()
        self.executor = Executor(self.store, self.journal, self._refused, plain, lambda: review)

    def write(self, id: str, body: str, curated: bool = True, **fields: Any) -> str:
        """An entry's file, as the curator wrote it or as a person did."""
        values = {"id": id, "title": id.rpartition("/")[2].replace("-", " "), "type": "convention", **fields}
        raw = render_new(values, body, NOW - 86400)
        if curated:
            raw = set_field(raw, "curated", body_hash(parse(id + ".md", raw).body))
        path = Path(self.home.knowledge, id + ".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)
        return id

    def do(self, heard: Packet, *actions: Act, baselines: dict[str, str] | None = None) -> Plan:
        plan = self.executor.carry_out(heard, actions, baselines, NOW)
        assert plan is not None
        return plan

    def verbs(self, heard: Packet, *actions: Act, **more: Any) -> list[str]:
        return [outcome.verb for outcome in self.do(heard, *actions, **more).outcomes]

    def accept(self, id: str) -> None:
        accept(self.store, self.journal, id, NOW)

    def files(self) -> dict[str, bytes]:
        root = Path(self.home.knowledge)
        return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*.md"))}

    def _refused(self, text: str) -> str:
        return "the person rejected this" if plain(text) in self.rejected else ""
