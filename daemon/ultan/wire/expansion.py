"""UserPromptExpansion: the person typed a slash command; `/ultan <text>` is saved at once, byte for byte.

The client fires this event only for what a person typed, so the commands that change settings act here too.
What happened is told to the agent, which passes it on in a line.
"""

from __future__ import annotations

from ultan.wire import block, recall, remember, switch
from ultan.wire.hook import Call

USAGE = "Nothing was saved: type the note after the command, for example  /ultan we use uv here, never pip"


def handle(call: Call) -> None:
    """Carry out Ultan's own commands; record every command."""
    name = call.text("command_name").rpartition(":")[2]
    own = call.text("command_name").split(":")[0] == "ultan"
    if own and name == "ultan":
        tell(call, remembered(call))
    elif own and name == "ultan-off":
        tell(call, turned(call, "off"))
    elif own and name == "ultan-on":
        tell(call, turned(call, "on"))
    elif own and name == "ultan-why":
        tell(call, explained(call))
    if call.listens() and not call.in_private_turn():
        call.append()
        call.start_daemon()  # it makes a new note known to the next prompt


def tell(call: Call, text: str) -> None:
    call.emit(block.envelope(call.event, "Ultan (the user's library): " + text))


def remembered(call: Call) -> str:
    """Save the text after `/ultan`; returns what to tell."""
    saved = remember.save(
        call.home, call.text("command_args"), call.text("cwd"), call.text("session_id"), call.now
    )
    secret = " A secret in it was replaced by a mark and is not stored." if saved.redacted else ""
    title = block.clip(block.neutralise(saved.title), block.TITLE_CHARS)
    if saved.kind == "saved":
        return 'saved word for word as %s (%s, %s), titled "%s".%s To take it back: ultan undo %s' % (
            saved.id,
            saved.type,
            saved.scope,
            title,
            secret,
            saved.batch,
        )
    if saved.kind == "duplicate":
        return (
            'the library says this already, so nothing was written: "%s" (%s). '
            "To write it all the same: ultan add --force" % (title, saved.id)
        )
    if saved.kind == "waiting":
        return "the note is kept, but not in the library yet; the daemon will save it. %s%s" % (
            block.neutralise(saved.reason),
            secret,
        )
    if saved.kind == "too long":
        return "nothing was saved: the note is over %d characters. Put it in a file of the library." % (
            remember.TEXT_LIMIT
        )
    if saved.kind == "not text":
        return "nothing was saved: the note holds NUL bytes, which no text does."
    return USAGE


def turned(call: Call, state: str) -> str:
    """Turn Ultan off or on; returns what to tell."""
    changed = switch.turn(call.home, state)
    if state == "off":
        return (
            "it is now off: nothing is recorded or shown until /ultan-on. /ultan still saves."
            if changed
            else "it was off already."
        )
    return "it is on: it listens and shows notes again." if changed else "it was on already."


def explained(call: Call) -> str:
    """What was considered for the last prompt of this session, and why it was shown or not."""
    record = recall.newest(call.home, call.text("session_id"))
    if record is None:
        return "no prompt of this session was looked up yet."
    shown = recall.surfaced(call.home, call.text("session_id"), str(record.get("prompt_id") or ""))
    lines = ['for the prompt "%s" (%s):' % (_line(record.get("prompt"), 120), _line(record.get("via"), 20))]
    candidates = record.get("candidates")
    for candidate in candidates[:8] if isinstance(candidates, list) else []:
        if isinstance(candidate, dict):
            entry_id = str(candidate.get("id"))
            verdict = "shown" if entry_id in shown else _cut(candidate)
            lines.append("- %s: %s (%s)" % (_line(entry_id, 150), verdict, _scores(candidate)))
    if len(lines) == 1:
        lines.append("- nothing in the library came near")
    threshold = record.get("threshold")
    if isinstance(threshold, (int, float)) and len(lines) > 1:
        lines.append("A note is shown from a probability of %s on." % round(threshold, 3))
    session = call.text("session_id")
    plain = session.replace("-", "").replace("_", "").isalnum() and not session.startswith("-")
    lines.append("What each number is made of: ultan why" + (" --session " + session if plain else ""))
    return "\n".join(lines)


def _cut(candidate: dict[str, object]) -> str:
    """Why a candidate was not shown, and which scope, status or other note it was because of."""
    because = _line(candidate.get("because"), 150)
    return _line(candidate.get("cut") or "not shown", 60) + (" (%s)" % because if because else "")


def _line(value: object, limit: int) -> str:
    return block.clip(block.neutralise(str(value or "")), limit)


def _scores(candidate: dict[str, object]) -> str:
    """The probability, and the scores that gave it a place, where the record says which; else all."""
    scores, ranks = candidate.get("scores"), candidate.get("ranks")
    parts = ["probability %s" % candidate["probability"]] if candidate.get("probability") is not None else []
    for name, value in scores.items() if isinstance(scores, dict) else []:
        if isinstance(ranks, dict) and name not in ranks:
            continue
        parts.append("%s %s" % (_line(name, 20), round(value, 3) if isinstance(value, (int, float)) else "-"))
    return ", ".join(parts)
