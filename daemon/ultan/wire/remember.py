"""Saving what the person hands over, at once: no model, no daemon, the words byte for byte.

Everything is decided by plain rules first (`plan`), then written through the journal in one batch. Where the
library is locked too long, the words wait in the spool and the daemon saves them: they are never lost.
"""

from __future__ import annotations

import json
import os

from ultan.wire import classify, journal, projects, render
from ultan.wire.batch import Action, Batch
from ultan.wire.failures import BadPath, UltanError
from ultan.wire.files import read_limited, utc_now, write_atomic
from ultan.wire.home import Home
from ultan.wire.paths import check_new, fold
from ultan.wire.project import identities, in_repository
from ultan.wire.redact import redact

LOCK_SECONDS = 1.0
TEXT_LIMIT = 200_000
_ENTRY_LIMIT = 1 << 20
_NEIGHBOURS = 5
# So many files of the folder itself are compared too: the catalog may not know the newest yet.
MOST_BESIDE = 100


class Saved:
    """What became of a text. kind: saved, duplicate, empty, too long, not text or waiting.

    saved: id, title, type, scope and batch (for undo) are set; duplicate: id and title of the entry that says
    it already; waiting: the library could not be written (`reason`), `path` is the spooled text.
    """

    __slots__ = ("batch", "id", "kind", "path", "reason", "redacted", "scope", "title", "type")

    def __init__(self, kind: str, **fields: str) -> None:
        self.kind = kind
        self.id = fields.get("id", "")
        self.title = fields.get("title", "")
        self.type = fields.get("type", "")
        self.scope = fields.get("scope", "")
        self.batch = fields.get("batch", "")
        self.path = fields.get("path", "")
        self.reason = fields.get("reason", "")
        self.redacted = False

    def as_json(self) -> dict[str, object]:
        """The fields that are set."""
        return {name: getattr(self, name) for name in self.__slots__ if getattr(self, name)}


def save(
    home: Home,
    text: str,
    cwd: str,
    session_id: str,
    now: float,
    by: str = "user",
    force: bool = False,
    chosen: dict[str, str] | None = None,
) -> Saved:
    """Save `text` as a new entry; see Saved for what may come of it.

    chosen: type, title, scope ("global" or "project") or folder where the person named them; force writes
    even what the library already says. Raises BadPath for a folder that can be none, and OSError when the
    text could be neither saved nor spooled.
    """
    if not text.strip():
        return Saved("empty")
    if len(text) > TEXT_LIMIT:
        return Saved("too long")
    if "\0" in text:
        return Saved("not text")
    chosen = dict(chosen or {})
    if "folder" in chosen:
        chosen["folder"] = chosen["folder"].strip("/")
        if chosen["folder"]:
            check_new(chosen["folder"] + "/note.md")
    clean = redact(text)
    try:
        with journal.Writer(home, LOCK_SECONDS, "remember") as writer:
            saved = _write(writer, clean, cwd, session_id, now, by, force, chosen)
    except (UltanError, OSError) as error:
        # Locked, of a newer version, out of space: whatever it is, the words are kept.
        path = _spool(home, clean, cwd, session_id, now, by, force, chosen)
        saved = Saved("waiting", path=path, reason=str(error))
    saved.redacted = clean != text
    return saved


def _write(
    writer: journal.Writer,
    text: str,
    cwd: str,
    session_id: str,
    now: float,
    by: str,
    force: bool,
    chosen: dict[str, str],
) -> Saved:
    """Decide where the text goes and write it; the lock is held, so nobody else is saving it too."""
    home = writer.home
    mine = identities(cwd)
    known = projects.listed(home)
    slug = _project(text, cwd, mine, known, chosen.get("scope"))
    base = "projects/" + slug if slug else "global"
    neighbours = _neighbours(home, text, slug)
    folder = chosen["folder"] if "folder" in chosen else _folder(text, base, neighbours)
    place = _spelled(home, "/".join(part for part in (base, folder) if part))
    beside = _names(os.path.join(home.knowledge, *place.split("/")))
    if not force:
        twin = _twin(home, text, neighbours + [place + "/" + name for name in beside[:MOST_BESIDE]])
        if twin is not None:
            return Saved("duplicate", id=twin[0], title=twin[1])
    title = chosen.get("title") or classify.title(text)
    kind = chosen.get("type") or classify.note_type(text)
    scope = "project:" + slug if slug else "global"
    entry_id = place + "/" + classify.file_name(title, {name.casefold() for name in beside})
    source = {"by": by, "session": session_id, "project": slug or ""}
    today = utc_now(now)[:10]
    fields: list[tuple[str, object]] = [
        ("id", entry_id),
        ("title", title),
        ("type", kind),
        ("scope", scope),
        ("status", "active"),
        ("created", today),
        ("updated", today),
        ("source", {key: value for key, value in source.items() if value}),
    ]
    actions = [Action(entry_id + ".md", None, render.entry(fields, text).encode("utf-8", "replace"))]
    if slug and slug not in known:
        actions.append(
            Action("projects/%s/README.md" % slug, None, projects.readme(slug, mine).encode("utf-8"))
        )
    batch = writer.apply(Batch(actions, by, "saved as said: " + title), now)
    return Saved("saved", id=entry_id, title=title, type=kind, scope=scope, batch=batch.id)


def _project(
    text: str, cwd: str, mine: list[str], known: dict[str, list[str]], scope: str | None
) -> str | None:
    """The slug of the project that a text is for; None for a global note."""
    everywhere = classify.is_global(text, in_repository(cwd)) if scope is None else scope == "global"
    if everywhere or not mine:
        return None
    return projects.slug_for(known, mine) or projects.new_slug(known, mine)


def _neighbours(home: Home, text: str, project: str | None) -> list[str]:
    """Ids of the entries nearest to a text, in scope, best first; empty without a catalog."""
    try:
        from ultan.wire.lexical import Catalog

        found = Catalog.open(home.catalog).search(text, project, limit=_NEIGHBOURS)
    except Exception:  # a broken index must not cost the person's words
        return []
    return [str(row["id"]) for row in found]


def _twin(home: Home, text: str, neighbours: list[str]) -> tuple[str, str] | None:
    """(id, title) of an entry that says the same already."""
    for entry_id in neighbours:
        header, body = _entry(home, entry_id)
        title = _value(header, "title") or entry_id
        if classify.same_saying(text, body) or classify.same_saying(text, title):
            return entry_id, title
    return None


def _folder(text: str, base: str, neighbours: list[str]) -> str:
    """The folder of the nearest entry below `base`, else the topic that the words name."""
    for entry_id in neighbours[:1]:
        if entry_id.startswith(base + "/"):
            return "/".join(entry_id[len(base) + 1 :].split("/")[:-1])
    return classify.folder(text)


def _spelled(home: Home, place: str) -> str:
    """`place` in the spelling of the folders that are there: `python` beside `Python` would be its twin.

    `projects` keeps its own: elsewhere the note would belong to no project.
    """
    names = place.split("/")
    for number, name in enumerate(names):
        folder = os.path.join(home.knowledge, *names[:number])
        if number == 0 and name == "projects":
            continue
        if not os.path.isdir(os.path.join(folder, name)):
            try:
                there = sorted(other for other in os.listdir(folder) if fold(other) == fold(name))
            except OSError:
                break
            names[number] = there[0] if there else name
    return "/".join(names)


def _names(folder: str) -> list[str]:
    """The names (without .md) of the files in a folder."""
    try:
        return sorted(name[:-3] for name in os.listdir(folder) if name.endswith(".md"))
    except OSError:
        return []


def _entry(home: Home, entry_id: str) -> tuple[str, str]:
    """(header, body) of an entry's file as text; empty where it cannot be read."""
    try:
        raw = read_limited(os.path.join(home.knowledge, *(entry_id + ".md").split("/")), _ENTRY_LIMIT)
    except (OSError, ValueError):
        return "", ""
    text = raw.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    if not text.startswith("---\n"):
        return "", text
    header, _, body = text[4:].partition("\n---\n")
    return header, body.strip()


def _value(header: str, key: str) -> str:
    for line in header.splitlines():
        if line.startswith(key + ":"):
            return line[len(key) + 1 :].strip().strip("\"'")
    return ""


def _spool(
    home: Home,
    text: str,
    cwd: str,
    session_id: str,
    now: float,
    by: str,
    force: bool,
    chosen: dict[str, str],
) -> str:
    """Keep a text until the library is free; returns the file."""
    folder = os.path.join(home.spool, "remember")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = os.path.join(folder, "%d-%s.json" % (int(now * 1000), os.urandom(4).hex()))
    waiting: dict[str, object] = {"v": 1, "text": text, "cwd": cwd, "session_id": session_id}
    waiting.update({"ts": now, "by": by, "force": force, "chosen": chosen})
    write_atomic(path, json.dumps(waiting, ensure_ascii=False).encode("utf-8", "replace"))
    return path


def save_waiting(home: Home, now: float) -> list[Saved]:
    """Save the texts that waited for the library, oldest first; what still cannot be saved stays."""
    folder = os.path.join(home.spool, "remember")
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    except OSError:
        return []
    saved = []
    for name in names:
        path = os.path.join(folder, name)
        try:
            waiting = json.loads(read_limited(path, 4 * TEXT_LIMIT))
            text, cwd, session_id, by = (str(waiting[key]) for key in ("text", "cwd", "session_id", "by"))
            said, force = float(waiting["ts"]), waiting.get("force") is True
            chosen = {str(key): str(value) for key, value in dict(waiting.get("chosen") or {}).items()}
        except (OSError, ValueError, KeyError, TypeError):
            os.replace(path, path[:-5] + ".broken")
            continue
        try:
            with journal.Writer(home, LOCK_SECONDS, "remember") as writer:
                done = _write(writer, text, cwd, session_id, said, by, force, chosen)
        except BadPath:  # its own trouble: the others go on
            continue
        except (UltanError, OSError):
            break
        os.unlink(path)
        saved.append(done)
    return saved
