"""A batch of changes to the library, and the record of it that the journal keeps.

Standard library only and cheap to import: hooks write through it too.
"""

from __future__ import annotations

import json
import os

from ultan.wire.files import utc_now

RECORD_VERSION = 1
# proposed: waits for the person. applied: done. rejected: refused by the person. undone: taken back on
# request. failed: interrupted, and taken back because a file had been changed meanwhile.
STATES = ("proposed", "applied", "rejected", "undone", "failed")


class BrokenRecord(ValueError):
    """A journal file that is not a whole record of this version."""


class Action:
    """What one file held before and holds after a batch; None where it is not there.

    `path` is relative to knowledge/. No `before` means that the file is new.
    """

    __slots__ = ("after", "before", "path")

    def __init__(self, path: str, before: bytes | None, after: bytes | None) -> None:
        self.path = path
        self.before = before
        self.after = after

    def __repr__(self) -> str:
        verb = "create" if self.before is None else "remove" if self.after is None else "change"
        return "<%s %s>" % (verb, self.path)

    def encode(self) -> dict[str, object]:
        return {
            "path": self.path,
            "before": _pack(self.before),
            "after": _pack(self.after),
            "before_hash": content_hash(self.before),
            "after_hash": content_hash(self.after),
        }

    @classmethod
    def decode(cls, values: dict[str, object]) -> Action:
        action = cls(str(values["path"]), _unpack(values["before"]), _unpack(values["after"]))
        if values["before_hash"] != content_hash(action.before) or values["after_hash"] != content_hash(
            action.after
        ):
            raise BrokenRecord("the content of %s is not what its hash says" % action.path)
        return action


class Batch:
    """Changes that belong together. `by`: who asked (user, curator, ...). `reason`: one line for the log.

    undoes: the record name of the batch whose effect this one reverses; redo: that one was such itself.
    format: the home's format after it (one migration step). meta: anything else worth keeping, JSON values.
    id, stamp and ts are given when the journal takes it.
    """

    __slots__ = (
        "actions",
        "by",
        "format",
        "id",
        "meta",
        "reason",
        "redo",
        "stamp",
        "state",
        "ts",
        "undoes",
    )

    def __init__(
        self,
        actions: list[Action],
        by: str,
        reason: str,
        undoes: str = "",
        redo: bool = False,
        format: int = 0,
        meta: dict[str, object] | None = None,
    ) -> None:
        self.actions = actions
        self.by = by
        self.reason = " ".join(reason.split())
        self.undoes = undoes
        self.redo = redo
        self.format = format
        self.meta = meta or {}
        self.state = "proposed"
        self.id = ""
        self.stamp = ""
        self.ts = ""

    @property
    def name(self) -> str:
        """The file name of its record; sorted by name, records are in the order they were taken."""
        return "%s-%s.json" % (self.stamp, self.id) if self.stamp else ""

    @property
    def paths(self) -> list[str]:
        return [action.path for action in self.actions]

    def number(self, stamp: str, now: float) -> None:
        """Give the batch its place in the journal."""
        self.id = os.urandom(4).hex()
        self.stamp = stamp
        self.ts = utc_now(now)

    def encode(self) -> bytes:
        values: dict[str, object] = {
            "v": RECORD_VERSION,
            "id": self.id,
            "stamp": self.stamp,
            "ts": self.ts,
            "state": self.state,
            "by": self.by,
            "reason": self.reason,
        }
        for key in ("undoes", "redo", "format", "meta"):
            if getattr(self, key):
                values[key] = getattr(self, key)
        values["actions"] = [action.encode() for action in self.actions]
        return (json.dumps(values, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")

    @classmethod
    def decode(cls, raw: bytes, name: str | None = None) -> Batch:
        """The batch of a record. `name`: the record's file name, which must agree. Raises BrokenRecord."""
        try:
            values = json.loads(raw)
            if values["v"] != RECORD_VERSION or values["state"] not in STATES:
                raise BrokenRecord("not a record of this version")
            batch = cls(
                [Action.decode(item) for item in values["actions"]],
                str(values["by"]),
                str(values["reason"]),
                undoes=str(values.get("undoes", "")),
                redo=bool(values.get("redo", False)),
                format=int(values.get("format", 0)),
                meta=dict(values.get("meta", {})),
            )
            batch.id, batch.stamp, batch.ts = str(values["id"]), str(values["stamp"]), str(values["ts"])
            batch.state = values["state"]
        except BrokenRecord:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise BrokenRecord("not a whole record: %s" % error)
        if not is_record(batch.name) or (batch.undoes and not is_record(batch.undoes)):
            raise BrokenRecord("not a record's name")
        if name is not None and name != batch.name:
            raise BrokenRecord("the record's name is not its own")
        return batch


def is_record(name: str) -> bool:
    """Whether a file name is one of the journal's records: 20261201T024000.123456Z-1a2b3c4d.json."""
    return (
        len(name) == 37
        and name.isascii()
        and (name[:8] + name[9:15] + name[16:22]).isdigit()
        and (name[8], name[15], name[22:24], name[32:]) == ("T", ".", "Z-", ".json")
        and all(c in "0123456789abcdef" for c in name[24:32])
    )


def content_hash(content: bytes | None) -> str | None:
    """SHA-256 of a file's bytes in hexadecimal, None for a file that is not there."""
    if content is None:
        return None
    import hashlib

    return hashlib.sha256(content).hexdigest()


def _pack(content: bytes | None) -> object:
    if content is None:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        import base64

        return {"base64": base64.b64encode(content).decode("ascii")}


def _unpack(value: object) -> bytes | None:
    if value is None:
        return None
    if isinstance(value, str):
        return value.encode("utf-8")
    if isinstance(value, dict) and isinstance(value.get("base64"), str):
        import base64

        return base64.b64decode(value["base64"], validate=True)
    raise BrokenRecord("content of an unknown form")
