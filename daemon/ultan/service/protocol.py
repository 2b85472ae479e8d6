"""What may be asked on the socket: one JSON object a line each way, `v` and `op` in each question.

An answer is {"v": 1, "ok": true, ...} or {"v": 1, "ok": false, "error": {"type", "message"}}.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ultan.wire.version import PROTOCOL, VERSION

REQUEST_BYTES = 256 << 10
ANSWER_BYTES = 1 << 20

Text = Annotated[str, Field(max_length=REQUEST_BYTES)]
Short = Annotated[str, Field(max_length=4096)]


class Refusal(Exception):
    """A question that gets no answer but this.

    type: bad-request, wrong-version, unknown-op, too-large, slow, forbidden, busy, warming, late, stopping,
    unavailable, not-found or failed.
    """

    def __init__(self, type: str, message: str) -> None:
        super().__init__(message)
        self.type = type
        self.message = message

    def as_answer(self) -> dict[str, Any]:
        return {"v": PROTOCOL, "ok": False, "error": {"type": self.type, "message": self.message}}


class Request(BaseModel):
    """What every question may carry; fields that this version does not know are passed over."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)

    v: int
    client_version: Short = ""


class Prime(Request):
    """What applies to a prompt. exclude: ids shown before; deadline_ms: how long the asker waits."""

    op: Literal["prime"]
    prompt: Text
    cwd: Short = ""
    session_id: Short = ""
    prompt_id: Short = ""
    exclude: tuple[Short, ...] = Field(default=(), strict=False)
    deadline_ms: int | None = Field(default=None, ge=0)


class Search(Request):
    """Entries about a text, best first."""

    op: Literal["search"]
    text: Text
    project: Short | None = None
    limit: int = Field(default=10, ge=1, le=100)
    deadline_ms: int | None = Field(default=None, ge=0)


class Read(Request):
    """One entry with its body."""

    op: Literal["read"]
    id: Short


class Remember(Request):
    """Save a text as an entry."""

    op: Literal["remember"]
    text: Text
    cwd: Short = ""
    session_id: Short = ""


class Advise(Request):
    """A question for the advisor."""

    op: Literal["advise"]
    question: Text = ""


class Status(Request):
    """How the daemon is; answered in every state."""

    op: Literal["status"]


class Flush(Request):
    """Deliver the events and take over the library's changes now."""

    op: Literal["flush"]


class Shutdown(Request):
    """Save everything and end."""

    op: Literal["shutdown"]


Question = Prime | Search | Read | Remember | Advise | Status | Flush | Shutdown
OPS = ("prime", "search", "read", "remember", "advise", "status", "flush", "shutdown")
_question: TypeAdapter[Question] = TypeAdapter(Annotated[Question, Field(discriminator="op")])


def parse(raw: bytes) -> tuple[Question, str]:
    """The question in a line, and the version of who asks. Raises Refusal."""
    try:
        values = json.loads(raw)
    except (ValueError, RecursionError):
        raise Refusal("bad-request", "the line is not JSON") from None
    if not isinstance(values, dict):
        raise Refusal("bad-request", "the line is not a JSON object")
    version = values.get("v")
    if not isinstance(version, int) or isinstance(version, bool):
        raise Refusal("bad-request", "v: the protocol's version, a number, is missing")
    if version != PROTOCOL:
        raise Refusal("wrong-version", f"this daemon ({VERSION}) speaks protocol {PROTOCOL}, not {version}")
    op = values.get("op")
    if not isinstance(op, str) or op not in OPS:
        raise Refusal("unknown-op", f"op is one of {', '.join(OPS)}")
    try:
        question = _question.validate_python(values)
    except ValidationError as error:
        raise Refusal("bad-request", _first(error)) from None
    return question, question.client_version


def encode(answer: dict[str, Any]) -> bytes:
    """The line of an answer, or of the refusal that it is too long."""
    data = json.dumps({"v": PROTOCOL, "ok": True, **answer}, ensure_ascii=True, default=str).encode("ascii")
    if len(data) >= ANSWER_BYTES:
        data = json.dumps(Refusal("too-large", "the answer is too long").as_answer()).encode("ascii")
    return data + b"\n"


def client_version(raw: bytes) -> str:
    """The version of who asks, also where the question is not understood; "" if unknown."""
    try:
        found = json.loads(raw).get("client_version")
    except (ValueError, RecursionError, AttributeError):
        return ""
    return found if isinstance(found, str) else ""


def _first(error: ValidationError) -> str:
    """The first fault, in words that do not repeat what was sent."""
    found = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part) for part in found["loc"][1:]) or "the question"
    return f"{place}: {found['msg'][:1].lower()}{found['msg'][1:]}"
