"""What the hooks heard, one JSON object a line in `events.jsonl`.

One write to an O_APPEND descriptor under a lock: a line is complete or it is not there.
"""

from __future__ import annotations

import json
import os

from ultan.wire.files import FileLock, LockTimeout, utc_now
from ultan.wire.home import Home
from ultan.wire.privacy import names_hidden_path, strip_private_value
from ultan.wire.redact import redact_value

VERSION = 1
PROMPT_CHARS = 32_000
TEXT_CHARS = 16_000
TOOL_CHARS = 8_000
FIELD_CHARS = 2_000
# How far past a cut a text is still read, so that a secret across the cut is seen whole.
MARGIN_CHARS = 4_000
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

    __slots__ = ("happened",)

    def __init__(self) -> None:
        self.happened = False

    def value(self, value: object, limit: int, depth: int = 0) -> object:
        """`value` with strings cut to `limit` (plus nothing else lost but depth and long lists)."""
        if isinstance(value, str):
            return self.text(value, limit)
        if isinstance(value, (list, dict)) and depth > 6:
            self.happened = True
            return "[too deep]"
        if isinstance(value, list):
            if len(value) > 100:
                self.happened = True
            return [self.value(item, limit, depth + 1) for item in value[:100]]
        if isinstance(value, dict):
            if len(value) > 100:
                self.happened = True
            return {
                str(key)[:200]: self.value(item, limit, depth + 1) for key, item in list(value.items())[:100]
            }
        return value

    def text(self, text: str, limit: int) -> str:
        if len(text) <= limit:
            return text
        self.happened = True
        return text[:limit]


def record(
    event: str, payload: dict[str, object], now: float | None = None, hidden: list[str] | None = None
) -> dict[str, object]:
    """The event record of a hook's input: identity and own fields, private parts cut, secrets redacted.

    hidden: globs of paths whose content is never kept; an event that names one keeps the tool's name alone.
    """
    cut = Cut()
    found: dict[str, object] = {"v": VERSION, "event": event, "ts": utc_now(now)}
    for name in IDENTITY:
        value = payload.get(name)
        if isinstance(value, str) and value:
            found[name] = redact_value(value[:FIELD_CHARS])
    found.setdefault("session_id", "")
    for name, limit in _FIELDS.get(event, {}).items():
        if name in payload:
            wide = Cut().value(payload[name], limit + MARGIN_CHARS)
            clean = redact_value(strip_private_value(wide))
            found[name] = cut.value(clean, limit)
            if limit and len(json.dumps(found[name], ensure_ascii=False, default=str)) > limit * 2 + 200:
                found[name] = cut.text(json.dumps(clean, ensure_ascii=False, default=str), limit)
    if hidden and names_hidden_path(hidden, [payload.get("tool_input"), payload.get("tool_response")]):
        for name in ("tool_input", "tool_response", "error"):
            if name in found:
                found[name] = "[hidden path]"
    if cut.happened:
        found["truncated"] = True
    return found


def append(home: Home, event: dict[str, object]) -> None:
    """Add one line to the events. Raises OSError when it could not be written whole."""
    line = encode(event)
    home.ensure()
    lock = FileLock(home.events_lock, timeout=LOCK_SECONDS)
    try:
        lock.acquire()
    except LockTimeout:
        # A frozen holder must not cost an event: an appended write this small does not mix with others.
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
