"""What a session has been shown: one small file a session below `recall/sessions/`, part of the recall log.

The hook that prints a note adds the line, whoever answered (daemon or fallback), so there is one record.
A compaction or a cleared context adds a line too: what was shown before it may be shown again.
"""

from __future__ import annotations

import json
import os

from ultan.wire.files import FileLock, read_limited, utc_now
from ultan.wire.home import Home

_LIMIT = 4 << 20
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
LOCK_SECONDS = 0.3
ANY_PROMPT = "*"  # stands for the prompt id of a private turn when the client sends none


def file_name(session_id: str) -> str:
    """A safe file name for any session id, different for different ids on any file system."""
    if 0 < len(session_id) <= 80 and all(c in _SAFE for c in session_id) and session_id == session_id.lower():
        return session_id
    import hashlib  # rare: the client's own ids are safe as they are

    return "x-" + hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class SessionMemory:
    """The lines of one session, read at construction; `add` appends."""

    __slots__ = ("advised", "had_private", "path", "private", "private_ids", "prompts", "shown")

    def __init__(self, home: Home, session_id: str) -> None:
        self.path = os.path.join(home.recall, "sessions", file_name(session_id) + ".jsonl")
        self.read()

    def read(self) -> None:
        """Fold the file.

        `shown`: ids since the last reset; `advised`: (agent, id) of notes given before a tool since then;
        `prompts`: those answered; `private`: the private turn that the session is in, or None; `private_ids`:
        all of them; `had_private`: whether the context holds one.
        """
        self.shown: set[str] = set()
        self.advised: set[tuple[str, str]] = set()
        self.prompts: set[str] = set()
        self.private: str | None = None
        self.private_ids: set[str] = set()
        self.had_private = False
        try:
            raw = read_limited(self.path, _LIMIT)
        except FileNotFoundError:
            return
        except OSError:  # nobody knows what was private, so everything is
            self.private = ANY_PROMPT
            self.had_private = True
            return
        for line in raw.splitlines():
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(entry, dict):
                self._fold(entry)

    def _fold(self, entry: dict[str, object]) -> None:
        ids = entry.get("surfaced")
        if isinstance(ids, list):
            self.shown.update(item for item in ids if isinstance(item, str))
            prompt_id = entry.get("prompt_id")
            if isinstance(prompt_id, str) and prompt_id:
                self.prompts.add(prompt_id)
        ids = entry.get("advised")
        if isinstance(ids, list):
            agent = str(entry.get("agent_id") or "")
            self.advised.update((agent, item) for item in ids if isinstance(item, str))
            if not agent:  # the main agent has it before it, so that no prompt brings it again
                self.shown.update(item for item in ids if isinstance(item, str))
        if "reset" in entry:
            self.shown.clear()
            self.advised.clear()
        if "private" in entry:
            private = entry["private"]
            self.private = private if isinstance(private, str) else None
            self.private_ids.update([private] if isinstance(private, str) else [])
            self.had_private = True
        if "forked" in entry:
            self.had_private = True

    def is_private(self, prompt_id: str) -> bool:
        """Whether what happens for this prompt ("" if the client does not say) belongs to a private turn."""
        if prompt_id and self.private != ANY_PROMPT:
            return prompt_id in self.private_ids
        return self.private is not None

    def add(self, now: float | None = None, **fields: object) -> None:
        """Append one line: surfaced=[ids] with prompt_id, advised=[ids] with agent_id, reset=reason,
        private=prompt_id or None, or forked=True for a session that began with another's context.
        """
        self._make_folder()
        line = json.dumps({"v": 1, "ts": utc_now(now), **fields}, ensure_ascii=True) + "\n"
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, line.encode("ascii"))
        finally:
            os.close(descriptor)

    def lock(self) -> FileLock:
        """Held while a note is printed, so that two wirings of one hook do not both print it."""
        self._make_folder()
        return FileLock(self.path[:-6] + ".lock", timeout=LOCK_SECONDS)

    def _make_folder(self) -> None:
        folder = os.path.dirname(self.path)
        if not os.path.isdir(folder):
            for path in (os.path.dirname(folder), folder):  # the mode is given to the last folder only
                os.makedirs(path, mode=0o700, exist_ok=True)
