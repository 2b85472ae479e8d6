"""Who is speaking: the person, the client on its own account, or a curator session of Ultan's own."""

from __future__ import annotations

import os
import re

# Texts that the client sends through the prompt event without the person having typed them. Anchored at
# the start: a person may well quote one of these in the middle of a question.
_SYNTHETIC = (
    "<task-notification>",
    "<system-reminder>",
    "<system_reminder>",
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "<command-name>",
    "<command-message>",
    "<command-args>",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<background-task",
    "<agent-notification>",
    "<teammate-message",
    "<channel ",
    "[system notification",
    "[request interrupted by user",
    "this session is being continued from a previous conversation",
)
_COMMAND = re.compile(r"/([A-Za-z][A-Za-z0-9_-]*(?::[A-Za-z0-9_.-]+)*)(?=\s|$)")


def is_curator(environ: os._Environ[str] | dict[str, str]) -> bool:
    """Whether this hook runs inside one of Ultan's own model sessions: it must then do nothing."""
    return bool(environ.get("ULTAN_CURATOR")) or environ.get("CLAUDE_INVOKED_BY") == "ultan"


def is_inside_home(root: str, *paths: object) -> bool:
    """Whether one of `paths` lies in the home: only Ultan's own sessions work there."""
    real = os.path.realpath(root)
    for path in paths:
        if isinstance(path, str) and path:
            for form in (path, os.path.realpath(path)):
                if form == real or form.startswith((real + "/", root + "/")):
                    return True
    return False


def is_synthetic(prompt: str) -> bool:
    """Whether the client, not the person, wrote this prompt."""
    return prompt.lstrip()[:100].lower().startswith(_SYNTHETIC)


def slash_command(prompt: str) -> str | None:
    """The name of the slash command that a prompt is, without the slash; None for speech and paths."""
    match = _COMMAND.match(prompt.lstrip())
    return match.group(1) if match else None
