"""What was heard and not yet judged: the open segment of each session below `spool/<session>/`.

One process writes here, the daemon. A record is synced before whoever handed it over forgets it; handed over
twice (after a crash, by a hook that is wired twice, by a replay) it is still there once.
"""

from __future__ import annotations

import calendar
import hashlib
import json
import os
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ultan.wire.files import PRIVATE_FILE, PRIVATE_FOLDER, read_limited, sync_folder
from ultan.wire.guard import is_synthetic
from ultan.wire.home import Home
from ultan.wire.session import file_name

OPEN = "open.jsonl"
SEGMENT_LIMIT = 1 << 30
MOST_SEGMENTS = 64
# Two wirings of one hook run side by side; what comes later than this is another event.
SAME_SECONDS = 5
# Names below spool/ that are no session's.
RESERVED = frozenset(("remember", "packets", "scholar"))


@dataclass(frozen=True, slots=True)
class Heard:
    """One event and the bytes of the line that it was read from, without the line's end."""

    event: dict[str, Any]
    raw: bytes

    @property
    def session_id(self) -> str:
        return str(self.event["session_id"])


@dataclass(frozen=True, slots=True)
class Turn:
    """What the person said. `command`: the slash command that it is, or ""."""

    prompt_id: str
    ts: str
    text: str
    cwd: str
    command: str


@dataclass(slots=True)
class Added:
    """What became of the events of one call."""

    kept: int = 0
    duplicates: int = 0


def folder_name(session_id: str) -> str:
    """The folder of a session below spool/: safe, and different for different sessions."""
    name = file_name(session_id)
    return file_name("\0" + session_id) if name in RESERVED else name


def identity(event: dict[str, Any]) -> str:
    """32 hex digits that are the same for two records of one event: all counts but when it was noted."""
    content = {name: value for name, value in event.items() if name not in ("v", "ts")}
    text = json.dumps(content, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:32]


@dataclass(slots=True)
class Segment:
    """The open segment of one session. keys: identity -> when that event was last noted."""

    path: Path
    keys: dict[str, str] = field(default_factory=dict)
    size: int = 0

    @classmethod
    def open(cls, path: Path) -> Segment:
        """Read what is there; a record that a crash left unfinished is taken off the end."""
        segment = cls(path)
        try:
            raw = read_limited(str(path), SEGMENT_LIMIT)
        except FileNotFoundError:
            return segment
        whole = raw.rfind(b"\n") + 1
        if whole < len(raw):
            os.truncate(path, whole)
        segment.size = whole
        for record in _records(raw[:whole]):
            segment.keys[str(record.get("key"))] = str(record["event"].get("ts"))
        return segment

    def append(self, heard: Sequence[Heard]) -> Added:
        """Add what is new and sync it. Raises OSError; the segment is then as it was before."""
        lines, added, keys = [], Added(), dict[str, str]()
        for item in heard:
            key, ts = identity(item.event), str(item.event.get("ts"))
            before = keys.get(key, self.keys.get(key))
            if before is not None and _same_event(item.event, before, ts):
                added.duplicates += 1
                continue
            keys[key] = ts
            lines.append(b'{"v":1,"key":"%s","event":%s}\n' % (key.encode(), item.raw))
        if lines:
            self._write(b"".join(lines))
            self.keys.update(keys)
            added.kept = len(lines)
        return added

    def is_current(self) -> bool:
        """Whether nobody changed the file behind our back."""
        try:
            return self.path.stat().st_size == self.size
        except FileNotFoundError:
            return self.size == 0

    def _write(self, data: bytes) -> None:
        fresh = not self.path.exists()
        if fresh:
            _make_folder(self.path.parent)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        descriptor = os.open(self.path, flags, PRIVATE_FILE)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
            os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, self.size)
            raise
        finally:
            os.close(descriptor)
        self.size += len(data)
        if fresh:
            sync_folder(str(self.path.parent))


class Spool:
    """The spool of one home."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self._segments: OrderedDict[str, Segment] = OrderedDict()

    def append(self, heard: Iterable[Heard]) -> Added:
        """Add events to the open segments of their sessions, in order, each once; synced on return.

        Raises OSError: some may be there then; handing all of them over again does no harm.
        """
        by_session: dict[str, list[Heard]] = {}
        for item in heard:
            by_session.setdefault(item.session_id, []).append(item)
        total = Added()
        for session_id, items in by_session.items():
            added = self._segment(session_id).append(items)
            total.kept += added.kept
            total.duplicates += added.duplicates
        return total

    def sessions(self) -> list[str]:
        """The folder names of the sessions that have an open segment."""
        try:
            names = os.listdir(self.home.spool)
        except FileNotFoundError:
            return []
        return sorted(name for name in names if Path(self.home.spool, name, OPEN).is_file())

    def events(self, session: str) -> list[dict[str, Any]]:
        """The events of a session's open segment, oldest first; session is an id or a folder name."""
        folder = session if Path(self.home.spool, session, OPEN).is_file() else folder_name(session)
        return list(read_segment(Path(self.home.spool, folder, OPEN)))

    def _segment(self, session_id: str) -> Segment:
        name = folder_name(session_id)
        segment = self._segments.pop(name, None)
        if segment is None or not segment.is_current():
            segment = Segment.open(Path(self.home.spool, name, OPEN))
        self._segments[name] = segment
        while len(self._segments) > MOST_SEGMENTS:
            self._segments.popitem(last=False)
        return segment


def read_segment(path: Path) -> Iterator[dict[str, Any]]:
    """The events of a segment file; an unfinished or unreadable record is passed over."""
    try:
        raw = read_limited(str(path), SEGMENT_LIMIT)
    except FileNotFoundError:
        return
    for record in _records(raw[: raw.rfind(b"\n") + 1]):
        yield record["event"]


def user_turns(events: Iterable[dict[str, Any]]) -> list[Turn]:
    """What the person said, in order: prompts, without those that the client sent on its own account."""
    return [
        Turn(
            prompt_id=str(event.get("prompt_id") or ""),
            ts=str(event.get("ts") or ""),
            text=event["prompt"],
            cwd=str(event.get("cwd") or ""),
            command=str(event.get("command") or ""),
        )
        for event in events
        if _is_prompt(event) and not _is_notice(event)
    ]


def notices(events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The prompts that are none of the person's: task notifications, reminders, interruptions."""
    return [event for event in events if _is_prompt(event) and _is_notice(event)]


def _is_prompt(event: dict[str, Any]) -> bool:
    return event.get("event") == "UserPromptSubmit" and isinstance(event.get("prompt"), str)


def _is_notice(event: dict[str, Any]) -> bool:
    return bool(event.get("synthetic")) or is_synthetic(event["prompt"])


def _same_event(event: dict[str, Any], before: str, now: str) -> bool:
    """Whether two records of one identity are one event: always where the client numbers it, else only
    when they were noted at nearly the same time (a person may say "ok" twice)."""
    if before == now or event.get("tool_use_id") or event.get("prompt_id"):
        return True
    one, other = _seconds(before), _seconds(now)
    return one is not None and other is not None and abs(one - other) <= SAME_SECONDS


def _seconds(ts: str) -> int | None:
    try:
        return calendar.timegm(time.strptime(ts, "%Y-%m-%dT%H:%M:%SZ"))
    except ValueError:
        return None


def _records(raw: bytes) -> Iterator[dict[str, Any]]:
    for line in raw.split(b"\n"):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict) and isinstance(record.get("event"), dict):
            yield record


def _make_folder(folder: Path) -> None:
    for place in (folder.parent, folder):
        if not place.is_dir():
            place.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
            sync_folder(str(place.parent))
