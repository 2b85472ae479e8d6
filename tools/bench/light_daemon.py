"""The real daemon with an engine that only counts common words: for trials of the process.

    AGENT_MEM_HOME=/tmp/home python light_daemon.py

Each opened engine leaves a line in `engines` in the home, so that a trial can count them. With an argument, a
number of bytes, the events are put away at that size.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "daemon"))

from ultan.service import start
from ultan.wire.home import Home


class Primed:
    def __init__(self, shown: list[dict[str, Any]]) -> None:
        self.shown = shown


class LightEngine:
    """Finds entries by the words that they share with a text."""

    def __init__(self, home: Home) -> None:
        from ultan.library.store import Snapshot, Store

        self.home = home
        self.store = Store(home)
        self.pending = 0
        self.snapshot = Snapshot()
        with Path(home.path("engines")).open("a") as file:
            file.write(f"{os.getpid()}\n")

    def refresh(self, *, embed: bool = True) -> bool:
        before, self.snapshot = self.snapshot, self.store.scan()
        return self.snapshot is not before

    def embed_pending(self, seconds: float) -> int:
        return 0

    def configure(self, config: object) -> None:
        pass

    def prime(self, prompt: str, *_rest: str, exclude: frozenset[str] = frozenset(), **_more: Any) -> Primed:
        return Primed([row for row in self.search(prompt, limit=3) if row["id"] not in exclude])

    def search(self, text: str, project: str | None = None, limit: int = 10) -> list[dict[str, Any]]:
        words = set(text.lower().split())
        ranked = sorted(
            (-len(words & set(f"{entry.title} {entry.body}".lower().split())), id)
            for id, entry in self.snapshot.entries.items()
        )
        return [self.row(id) for score, id in ranked[:limit] if score]

    def read(self, id: str) -> dict[str, Any] | None:
        return self.row(id) if id in self.snapshot.entries else None

    def row(self, id: str) -> dict[str, Any]:
        entry = self.snapshot.entries[id]
        return {
            "id": id,
            "title": entry.title,
            "type": entry.type,
            "updated": entry.updated,
            "excerpt": entry.body,
        }

    def status(self) -> dict[str, Any]:
        return {"entries": len(self.snapshot.entries), "pending_embeddings": self.pending}

    def save(self) -> None:
        pass

    def close(self) -> None:
        pass


def main() -> int:
    def open_engine(home: Home, config: object) -> Any:
        if sys.argv[1:]:
            from ultan.service import rotation

            rotation.ROTATE_BYTES = int(sys.argv[1])
        return LightEngine(home)

    return start.run(Home.resolve(), open_engine)


if __name__ == "__main__":
    os._exit(main())
