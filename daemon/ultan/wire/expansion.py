"""UserPromptExpansion: the person typed a slash command; `/ultan <text>` is saved at once, byte for byte."""

from __future__ import annotations

from ultan.wire.hook import Call


def handle(call: Call) -> None:
    """Record the command."""
    if call.listens() and not call.in_private_turn():
        call.append()
