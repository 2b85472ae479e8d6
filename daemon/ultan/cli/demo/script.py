"""The session that the demo plays: what the person types, what happens, and how each must end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

# Put together here, so that no file of the project holds what looks like a key.
SECRET = "sk_" + "live_" + "4eC39HqLyjWDarjtT1zdp7dc9Kd2"
CONFIDENCE = "the offer from the harbour company"
IDEMPOTENCY = "projects/tidepool/payments/idempotency-keys"
RETRIES = "global/python/retries"
UV = "global/python/use-uv"
FRIDAY = "global/deploy/no-friday-deploys"
NOTE = "we fake HTTP with respx in this repo's tests, never with responses or monkeypatching"

Payload = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happens in the session, and one run of a hook.

    any_of: the agent must see one of these notes; none_of: none of these; silent: nothing at all.
    says: words that must be in what the agent is told. shows_disk: what reached the disk is shown too.
    waits_for: before it, wait until the daemon finds a note with these words.
    """

    title: str
    script: str
    event: str
    fields: Payload = field(default_factory=dict)
    any_of: tuple[str, ...] = ()
    none_of: tuple[str, ...] = ()
    says: str = ""
    silent: bool = False
    shows_disk: bool = False
    waits_for: str = ""

    @property
    def prompt(self) -> str:
        return str(self.fields.get("prompt") or "")

    @property
    def command(self) -> str:
        """The command that the agent is about to run."""
        given = self.fields.get("tool_input") if self.event == "PreToolUse" else None
        return str(given["command"]) if isinstance(given, dict) else ""


def prompted(title: str, text: str, **expected: Any) -> Step:
    return Step(title, "user_prompt_submit", "UserPromptSubmit", {"prompt": text}, **expected)


def quiet(title: str, script: str, event: str, **fields: Any) -> Step:
    return Step(title, script, event, fields, silent=True)


def before(title: str, command: str, **expected: Any) -> Step:
    fields = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": f"toolu_{len(command)}"}
    return Step(title, "pre_tool_use", "PreToolUse", fields, **expected)


START = quiet(
    "the session begins; the hook starts the daemon", "session_start", "SessionStart", source="startup"
)

SESSION = (
    prompted(
        "a prompt that the library knows something about",
        "the charge call to the payment provider timed out. Add a retry to the payments client.",
        any_of=(IDEMPOTENCY, RETRIES),
    ),
    prompted("an approval: nothing to look up", "yes, go ahead", silent=True),
    prompted("something else altogether", "what should I cook for six people tonight?", silent=True),
    before(
        "the agent is about to run what a note speaks about: it meets the note, and the command runs",
        "cd services/payments && python -m pip install tenacity",
        any_of=(UV,),
    ),
    before(
        "a note that blocks: the command does not run, however it is dressed up",
        "git commit -am wip && sudo -u deploy git -C . push origin main --force",
        says="deny: Blocked by the user's library",
    ),
    before(
        "a command that only mentions it: nothing to say",
        'git commit -m "no more git push --force to main"',
        silent=True,
    ),
    quiet(
        "the agent runs a tool: recorded, nothing said",
        "post_tool_use",
        "PostToolUse",
        tool_name="Bash",
        tool_input={"command": "uv run pytest tests/payments -q", "description": "Run the payment tests"},
        tool_response={"stdout": "14 passed in 2.31s", "stderr": "", "interrupted": False},
        tool_use_id="toolu_demo_1",
        duration_ms=2400,
    ),
    prompted(
        "a plan that a note speaks against",
        "great, can we deploy it to production this Friday afternoon?",
        any_of=(FRIDAY,),
    ),
    prompted(
        "the same again: what was shown is not repeated",
        "and a deploy to production late on Friday evening?",
        none_of=(FRIDAY,),
    ),
    prompted(
        "a private prompt: not looked up, not recorded",
        f"#private help me think about {CONFIDENCE}",
        silent=True,
    ),
    quiet(
        "the agent answers it: that belongs to the private turn too",
        "stop",
        "Stop",
        last_assistant_message=f"Let us weigh {CONFIDENCE}.",
    ),
    prompted(
        "a prompt with a key in it: it never reaches the disk",
        f"call the sandbox with STRIPE_KEY={SECRET} and print the status",
        shows_disk=True,
    ),
    Step(
        "the person teaches it something, word for word",
        "user_prompt_expansion",
        "UserPromptExpansion",
        {
            "expansion_type": "slash_command",
            "command_name": "ultan:ultan",
            "command_args": NOTE,
            "command_source": "plugin",
            "prompt": f"/ultan:ultan {NOTE}",
        },
        says="saved word for word",
    ),
    prompted(
        "and the next prompt finds it",
        "which library do we use to fake HTTP requests in the tests?",
        says="respx",
        waits_for="respx",
    ),
    quiet(
        "the context is compacted", "pre_compact", "PreCompact", trigger="manual", custom_instructions=None
    ),
    quiet("and the session goes on", "session_start", "SessionStart", source="compact"),
    prompted(
        "what the compaction took away may be shown again",
        "remind me: may we deploy to production on a Friday?",
        any_of=(FRIDAY,),
    ),
    quiet("the agent is done", "stop", "Stop", last_assistant_message="No: it waits for Monday."),
    quiet("the session ends", "session_end", "SessionEnd", reason="other"),
)


def payload(step: Step, folder: str, turn: int, session: str) -> Payload:
    """What the client sends to a step's hook; folder: where the session is, turn: its prompt's number."""
    base: Payload = {
        "session_id": session,
        "transcript_path": f"{folder}/../transcript.jsonl",
        "cwd": folder,
        "hook_event_name": step.event,
    }
    if step.event not in ("SessionEnd",) and turn:
        base["prompt_id"] = f"{session[:-4]}{turn:04d}"
    if step.event in ("UserPromptSubmit", "UserPromptExpansion", "PreToolUse", "PostToolUse", "Stop"):
        base["permission_mode"] = "default"
    if step.event == "Stop":
        base["stop_hook_active"] = False
    return {**base, **step.fields}


def faults(step: Step, seen: str) -> list[str]:
    """What is not as it should be in what the agent saw; empty where all is well. Pure."""
    found = []
    if step.silent and seen:
        found.append("it should have been silent")
    if step.any_of and not any(f"({id})" in seen for id in step.any_of):
        found.append("the note was not shown: " + " or ".join(step.any_of))
    found += [f"shown again: {id}" for id in step.none_of if f"({id})" in seen]
    if step.says and step.says not in seen:
        found.append(f"it should have said: {step.says}")
    return found
