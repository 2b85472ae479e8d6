"""What the hooks heard, one JSON object a line in `events.jsonl`.

One write to an O_APPEND descriptor under a lock: a line is complete or it is not there.
"""

from __future__ import annotations

import json
import os

from ultan.wire.files import FileLock, utc_now
from ultan.wire.home import Home
from ultan.wire.privacy import names_hidden_path, strip_private_value
from ultan.wire.redact import redact_value

VERSION = 1
PROMPT_CHARS = 32_000
TEXT_CHARS = 16_000
TOOL_CHARS = 8_000
FIELD_CHARS = 2_000
KEY_CHARS = 200
MOST_ITEMS = 100
MOST_LEVELS = 6
# How far past a cut a text is still read, so that a secret across the cut is seen whole.
MARGIN_CHARS = 4_000
# A run of characters longer than this without a space is cut inside.
WORD_CHARS = 1_000
LOCK_SECONDS = 0.5

IDENTITY = ("session_id", "cwd", "transcript_path", "agent_id", "agent_type", "prompt_id", "tool_use_id")
# The event's own fields that are kept, with the most characters that each string in them may have.
_FIELDS: dict[str, dict[str, int]] = {
    "SessionStart": {"source": 100, "model": 200},
    "UserPromptSubmit": {"prompt": PROMPT_CHARS},
    "UserPromptExpansion": {
        "prompt": PROMPT_CHARS,
        "expansion_type": 100,
        "command_name": 200,
        "command_args": PROMPT_CHARS,
        "command_source": 100,
    },
    "PostToolUse": {
        "tool_name": 200,
        "tool_input": TOOL_CHARS,
        "tool_response": TOOL_CHARS,
        "duration_ms": 0,
    },
    "PostToolUseFailure": {
        "tool_name": 200,
        "tool_input": TOOL_CHARS,
        "error": TOOL_CHARS,
        "is_interrupt": 0,
        "duration_ms": 0,
    },
    "Stop": {"last_assistant_message": TEXT_CHARS, "stop_hook_active": 0},
    "SubagentStop": {"last_assistant_message": TEXT_CHARS, "agent_transcript_path": FIELD_CHARS},
    "PreCompact": {"trigger": 100, "custom_instructions": FIELD_CHARS},
    "PostCompact": {"trigger": 100, "compact_summary": TEXT_CHARS},
    "SessionEnd": {"reason": 100},
}


class Cut:
    """Shortens what is too long, and remembers that it did."""

    __slots__ = ("happened", "left")

    def __init__(self, total: int) -> None:
        self.happened = False
        self.left = total  # characters that all strings together may still have

    def value(self, value: object, limit: int, margin: int = 0, depth: int = 0) -> object:
        """`value` with strings cut to `limit`, long lists and deep nesting cut too."""
        if isinstance(value, str):
            return self.text(value, limit, margin)
        if isinstance(value, (list, dict)):
            if depth > MOST_LEVELS:
                self.happened = True
                return "[too deep]"
            if len(value) > MOST_ITEMS:
                self.happened = True
        if isinstance(value, list):
            return [self.value(item, limit, margin, depth + 1) for item in value[:MOST_ITEMS]]
        if isinstance(value, dict):
            items = list(value.items())[:MOST_ITEMS]
            return {
                self.text(str(key), KEY_CHARS, margin): self.value(item, limit, margin, depth + 1)
                for key, item in items
            }
        return value

    def text(self, text: str, limit: int, margin: int = 0) -> str:
        """At most `limit` + `margin` characters; with a margin the cut ends between two words.

        A secret that the cut would split, and half of which no rule knows, is so left out whole.
        """
        most = min(limit + margin, max(0, self.left))
        if len(text) > most:
            self.happened = True
            text = _between_words(text[:most]) if margin else text[:most]
        self.left -= len(text)
        return text


def _between_words(text: str) -> str:
    space = max(text.rfind(" "), text.rfind("\n"), text.rfind("\t"))
    return text[: max(space, len(text) - WORD_CHARS, 0)]


def record(
    event: str, payload: dict[str, object], now: float | None = None, hidden: list[str] | None = None
) -> dict[str, object]:
    """The event record of a hook's input: identity and own fields, private parts cut, secrets redacted.

    hidden: globs of paths whose content is never kept; an event that names one keeps the tool's name alone.
    """
    found: dict[str, object] = {"v": VERSION, "event": event, "ts": utc_now(now)}
    truncated = False
    for name in IDENTITY:
        value = payload.get(name)
        if isinstance(value, str) and value:
            found[name], cut = _kept(value, FIELD_CHARS)
            truncated |= cut
    found.setdefault("session_id", "")
    for name, limit in _FIELDS.get(event, {}).items():
        value = payload.get(name)
        if limit:
            if name in payload:
                found[name], cut = _kept(value, limit)
                truncated |= cut
        elif isinstance(value, (bool, int, float)):
            found[name] = value
    answer = [found.get("tool_response"), found.get("error")]
    if hidden and names_hidden_path(hidden, str(payload.get("cwd") or ""), payload.get("tool_input"), answer):
        for name in ("tool_input", "tool_response", "error"):
            if name in found:
                found[name] = "[hidden path]"
    if truncated:
        found["truncated"] = True
    return found


def _kept(value: object, limit: int) -> tuple[object, bool]:
    """What is kept of a field, and whether that is less than all of it."""
    wide = Cut(total=(limit + MARGIN_CHARS) * 4)
    clean = redact_value(strip_private_value(wide.value(value, limit, MARGIN_CHARS)))
    cut = Cut(total=limit * 4)
    kept = cut.value(clean, limit)
    if not isinstance(kept, str):
        text = json.dumps(clean, ensure_ascii=False, default=str)
        if len(text) > limit * 2 + 200:
            kept = cut.text(text, limit)
    return kept, wide.happened or cut.happened


def append(home: Home, event: dict[str, object]) -> None:
    """Add one line to the events. Raises OSError when it could not be written whole."""
    line = encode(event)
    home.ensure()
    lock = FileLock(home.events_lock, timeout=LOCK_SECONDS)
    try:
        lock.acquire()
    except OSError:
        # A frozen holder, or a file system without locks, must not cost an event: an appended write does not
        # mix with others on a local disk.
        _write(home.events, line, repair=False)
        return
    try:
        _write(home.events, line, repair=True)
    finally:
        lock.release()


def encode(event: dict[str, object]) -> bytes:
    """One JSON line of UTF-8; lone surrogates, which no file can hold, become U+FFFD."""
    text = json.dumps(event, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode("utf-8") + b"\n"


def _write(path: str, line: bytes, repair: bool) -> None:
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            line = b"\n" + line  # somebody died in the middle of a line; ours must not weld to it
        written = os.write(descriptor, line)
        if written != len(line):
            if repair:
                os.ftruncate(descriptor, size)
            raise OSError("the disk took %d of %d bytes" % (written, len(line)))
    finally:
        os.close(descriptor)
