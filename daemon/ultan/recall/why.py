"""`ultan why`: what was considered for a prompt, what each candidate scored, what cut it, what was shown."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ultan.wire import recall
from ultan.wire.home import Home


@dataclass(frozen=True, slots=True)
class Explanation:
    """One prompt's story. candidates: {"id", "title"?, "scores", "probability"?, "cut"} best first;
    a cut of None means it was chosen; `shown` is what the hook really printed."""

    ts: str
    session_id: str
    prompt_id: str
    prompt: str
    project: str | None
    via: str
    shown: list[str]
    candidates: list[dict[str, Any]]
    timings_ms: dict[str, float]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def explain(home: Home, session_id: str | None = None, prompt_id: str | None = None) -> Explanation | None:
    """The story of the newest prompt (of a session, or with an id); None where the log has none."""
    record: dict[str, Any] | None = recall.newest(home, session_id, prompt_id)
    if record is None:
        return None
    session, prompt = str(record.get("session_id") or ""), str(record.get("prompt_id") or "")
    return Explanation(
        ts=str(record.get("ts") or ""),
        session_id=session,
        prompt_id=prompt,
        prompt=str(record.get("prompt") or ""),
        project=record.get("project"),
        via=str(record.get("via") or ""),
        shown=recall.surfaced(home, session, prompt),
        candidates=[item for item in record.get("candidates") or [] if isinstance(item, dict)],
        timings_ms=dict(record.get("timings_ms") or {}),
    )
