"""The hooks that only listen: tools, stops, compactions, the start and end of a session."""

from __future__ import annotations

from ultan.wire import runtime
from ultan.wire.hook import Call

_FORGETS_CONTEXT = ("compact", "clear")


def listen(call: Call) -> None:
    """Record the event, unless it belongs to a private turn or to a project that is not listened to."""
    if call.listens() and not call.in_private_turn():
        if call.event == "SubagentStop" and not call.text("agent_type") and call.memory.had_private:
            call.forget("last_assistant_message")  # the client's own summary of the whole conversation
        call.append()


def compact(call: Call) -> None:
    """PreCompact, PostCompact: what was shown leaves the context, so it may be shown again.

    A summary is written from the whole conversation, so after any private turn it is not kept.
    """
    _reset(call, call.event)
    if call.listens():
        if call.memory.had_private:
            call.forget("compact_summary", "custom_instructions")
        call.append()


def start(call: Call) -> None:
    """SessionStart: wake the daemon, or install it; a cleared or compacted context forgets what was shown."""
    source = call.text("source")
    if source in _FORGETS_CONTEXT:
        _reset(call, source)
    if not call.listens():
        return
    if source == "fork":
        call.memory.add(call.now, forked=True)  # its context may hold a private turn under another session id
    call.append()
    installed = runtime.find(call.home, call.environ)
    if installed is None or runtime.is_older(installed.version):
        runtime.start_installer(call.home, call.plugin_root, call.environ, call.now)
    if installed is not None:
        call.start_daemon()


def _reset(call: Call, reason: str) -> None:
    if call.memory.shown or call.memory.advised:
        call.memory.add(call.now, reset=reason)


def end(call: Call) -> None:
    """SessionEnd: recorded also after a private turn; it holds none of its words."""
    if call.listens():
        call.append()
