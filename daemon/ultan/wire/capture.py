"""The hooks that only listen: tools, stops, compactions, the start and end of a session."""

from __future__ import annotations

from ultan.wire import runtime
from ultan.wire.hook import Call

_FORGETS_CONTEXT = ("compact", "clear")


def listen(call: Call) -> None:
    """Record the event, unless it belongs to a private turn or to a project that is not listened to."""
    if call.listens() and not call.in_private_turn():
        call.append()


def compact(call: Call) -> None:
    """PreCompact, PostCompact: what was shown leaves the context, so it may be shown again.

    A summary is written from the whole conversation, so after any private turn it is not kept.
    """
    call.memory.add(call.now, reset=call.event)
    if call.listens():
        if call.memory.had_private:
            for name in ("compact_summary", "custom_instructions"):
                call.payload.pop(name, None)
        call.append()


def start(call: Call) -> None:
    """SessionStart: wake the daemon, or install it; a cleared or compacted context forgets what was shown."""
    if call.text("source") in _FORGETS_CONTEXT:
        call.memory.add(call.now, reset=call.text("source"))
    if not call.listens():
        return
    call.append()
    installed = runtime.find(call.home, call.environ)
    if installed is None or runtime.is_older(installed.version):
        runtime.start_installer(call.home, call.plugin_root, call.environ, call.now)
    if installed is not None:
        call.start_daemon()


def end(call: Call) -> None:
    """SessionEnd: recorded also after a private turn; it holds none of its words."""
    if call.listens():
        call.append()
