"""UserPromptSubmit: the person typed something; record it and put what applies before the agent.

The daemon is asked first, within a total deadline; without an answer the lexical fallback answers from
`catalog.json`. Both go through the same renderer and the same session memory.
"""

from __future__ import annotations

import os
import time

from ultan.wire import block, client, errors, guard, nudges
from ultan.wire.hook import Call
from ultan.wire.privacy import is_private_prompt, strip_private
from ultan.wire.redact import redact

# After a daemon that did not answer in time, the next prompts of the minute wait less for it.
DOUBTFUL_SECONDS = 0.25
DOUBT_LASTS = 60.0
PRIME_CHARS = 24_000
_FEWEST_ARGUMENT_WORDS = 3


def handle(call: Call) -> None:
    """Record the prompt and show what applies to it."""
    prompt = call.text("prompt")
    if is_private_prompt(prompt):
        call.begin_private_turn()
        return
    if not call.listens():
        return
    if guard.is_synthetic(prompt):
        hear_client(call)
        return
    if call.memory.private is not None:
        call.memory.add(call.now, private=None)
    command = guard.slash_command(prompt)
    if command:
        call.append(command=command)
    else:
        call.append()
    question = text_to_prime(prompt, command)
    show(call, recall(call, question) if question else [])


def hear_client(call: Call) -> None:
    """A text that the client sent by itself: recorded as such, never answered, no turn of the person's.

    After a private turn it may be about that turn (a task that ended, a summary of everything).
    """
    if call.memory.private is not None:
        call.begin_private_turn()
        return
    if call.memory.had_private:
        call.forget("prompt")
    call.append(synthetic=True)


def text_to_prime(prompt: str, command: str | None) -> str:
    """What of a prompt is asked of the library: private parts cut, secrets redacted, tags of the client and
    very long texts' middle left out. "" where nothing should be asked: Ultan's own commands, bare commands of
    others.
    """
    text = prompt
    if command:
        if command == "ultan" or command.startswith(("ultan:", "ultan-")):
            return ""
        text = prompt.lstrip()[len(command) + 1 :].strip()
        if len(text.split()) < _FEWEST_ARGUMENT_WORDS:
            return ""
    text = redact(_ends(strip_private(text), PRIME_CHARS * 4))
    return _ends(guard.without_marks(text), PRIME_CHARS).strip()


def _ends(text: str, limit: int) -> str:
    """The beginning and the end of a text of more than `limit` characters, cut between words."""
    if len(text) <= limit:
        return text
    head, tail = text[: limit // 2], text[-limit // 2 :]
    return (head.rpartition(" ")[0] or head) + "\n" + (tail.partition(" ")[2] or tail)


def recall(call: Call, question: str) -> list[dict[str, object]]:
    """The entries that apply, from the daemon or else the fallback; starts the daemon where none lives."""
    if not os.path.isdir(call.home.knowledge):
        call.start_daemon()
        return []
    doubtful = errors.last(call.home, "daemon", DOUBT_LASTS, call.now) > 0
    message: dict[str, object] = {
        "op": "prime",
        "session_id": call.text("session_id"),
        "prompt_id": call.prompt_id,
        "cwd": call.text("cwd"),
        "prompt": question,
        "exclude": sorted(call.memory.shown),
    }
    seconds = call.settings.deadline_ms / 1000
    if doubtful:
        seconds = min(seconds, DOUBTFUL_SECONDS)
    message["deadline_ms"] = int(seconds * 1000)
    try:
        answer = client.request(call.home, message, seconds)
        entries = answer.get("entries")
        if answer.get("ok") is True and isinstance(entries, list):
            return [
                entry for entry in entries if isinstance(entry, dict) and isinstance(entry.get("id"), str)
            ]
        reason = answer.get("error")
        if not (isinstance(reason, dict) and reason.get("type") in ("warming", "late", "busy")):
            call.complain("answer", "the daemon refused the question: %s" % str(reason)[:200])
    except client.Unreachable:
        call.start_daemon()
    except client.Unresponsive as error:
        call.complain("daemon", "the daemon gave no proper answer in %.2f s: %s" % (seconds, error))
        call.start_daemon()  # does nothing while somebody holds the daemon's lock
    return fall_back(call, question)


def fall_back(call: Call, question: str) -> list[dict[str, object]]:
    """The lexical answer from the catalog, noted in the recall log as the daemon's answers are."""
    from ultan.wire import recall as log
    from ultan.wire import scan
    from ultan.wire.failures import UltanError
    from ultan.wire.lexical import THRESHOLD, Catalog
    from ultan.wire.projects import by_name

    started = time.monotonic()
    try:
        scan.refresh(call.home)
    except (OSError, UltanError) as error:  # the old catalog, or none, must do
        call.complain("catalog", "catalog.json could not be made: %s" % error)
    catalog = Catalog.open(call.home.catalog)
    project = catalog.project_for(call.identities) or by_name(call.home, call.identities)
    found = catalog.search(
        question, project, limit=call.settings.max_entries, exclude=frozenset(call.memory.shown)
    )
    considered: list[dict[str, object]] = [
        {
            "id": row.get("id"),
            "title": row.get("title"),
            "scores": {"lexical": row.get("score")},
            "probability": row.get("score"),
            "cut": None,
        }
        for row in found
    ]
    timings = {"lexical": (time.monotonic() - started) * 1000}
    log.append(
        call.home,
        log.line(
            "fallback",
            call.text("session_id"),
            call.prompt_id,
            project,
            question,
            considered,
            timings,
            call.now,
            cwd=call.text("cwd"),
            exclude=call.memory.shown,
            threshold=THRESHOLD,
            max_entries=call.settings.max_entries,
        ),
    )
    return found


def show(call: Call, entries: list[dict[str, object]]) -> None:
    """Print the block, and note it as shown; where there is nothing to show, touch nothing."""
    if not unseen(call, entries) and not nudges.peek(call.home):
        return
    lock = call.memory.lock()
    try:
        lock.acquire()
    except OSError:
        pass  # better a note twice than none
    try:
        call.memory.read()
        if call.prompt_id in call.memory.prompts:
            return  # another wiring of this hook has answered this prompt
        nudges.deliver(call.home, lambda waiting: put(call, unseen(call, entries), waiting))
    finally:
        lock.release()


def unseen(call: Call, entries: list[dict[str, object]]) -> list[dict[str, object]]:
    """Those of `entries` that this session has not been shown, each once, as many as may be shown."""
    fresh = {entry["id"]: entry for entry in entries if entry["id"] not in call.memory.shown}
    return list(fresh.values())[: call.settings.max_entries]


def put(call: Call, entries: list[dict[str, object]], waiting: list[str]) -> int:
    """Print the block of `entries` and nudges; how many of the nudges it holds."""
    text, held, told = block.compose(entries, call.now, waiting, call.settings.max_chars)
    if text:
        call.emit(block.envelope(call.event, text))
        call.memory.add(
            call.now, surfaced=[entry["id"] for entry in entries[:held]], prompt_id=call.prompt_id
        )
    return told
