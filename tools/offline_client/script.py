"""What the scripted model answers: rules that match a request, and the message that a reply becomes.

A script is JSON:

    {"rules": [RULE, ...], "default": REPLY}

RULE   {"match": MATCH, "times": N, "reply": REPLY, "name": "label"}. The first rule that matches and has
       uses left answers. "times" is 1 unless given, 0 means always; without "match" it matches anything.
MATCH  every key must hold; values are regular expressions, searched with re.S, except has_tool (a name):
         model, system, last_user (text and tool results of the last user message),
         messages (as JSON), body (the whole request as JSON), has_tool
REPLY  {"text": "..."}, {"tool_use": {"name": ..., "input": {...}}} (or a list), both together, or
         {"error": {"status": 529, "type": "overloaded_error", "message": "..."}}, with
         "delay_s" (wait before the answer), "stop_reason" and "usage" where the usual ones don't do.
       Texts may hold ${n} (the request's number) and ${m:KEY:GROUP} (a group of the match on KEY).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

EXHAUSTED = {
    "error": {"status": 400, "type": "invalid_request_error", "message": "the script has no reply left"}
}
USAGE = {
    "input_tokens": 100,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 10,
}
_PLACEHOLDER = re.compile(r"\$\{(n|m:[^}]+:\d+)\}")
_CHUNK = 200


class Script:
    """The rules with their remaining uses."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self.rules = [
            {**rule, "left": rule.get("times", 1) or float("inf")} for rule in spec.get("rules", [])
        ]
        self.default = spec.get("default", EXHAUSTED)

    def choose(self, body: dict[str, Any]) -> tuple[str, dict[str, Any], dict[str, re.Match[str]]]:
        """The name of the rule that answers this request, its reply and the matches; uses the rule up."""
        for number, rule in enumerate(self.rules):
            if rule["left"] <= 0:
                continue
            found = matches(rule.get("match") or {}, body)
            if found is not None:
                rule["left"] -= 1
                return str(rule.get("name", number)), rule["reply"], found
        return "default", self.default, {}


def text_of(content: Any) -> str:
    """The text of a content value: a string, or a list of text and tool-result blocks."""
    if isinstance(content, str):
        return content
    parts = []
    for block in content or []:
        if isinstance(block, str):
            parts.append(block)
        elif block.get("type") == "text":
            parts.append(block.get("text", ""))
        elif block.get("type") == "tool_result":
            parts.append(text_of(block.get("content")))
    return "\n".join(parts)


def last_user(body: dict[str, Any]) -> str:
    """The text of the last message of the user's."""
    for message in reversed(body.get("messages") or []):
        if message.get("role") == "user":
            return text_of(message.get("content"))
    return ""


def matches(match: dict[str, str], body: dict[str, Any]) -> dict[str, re.Match[str]] | None:
    """The matches by key, or None where a key does not hold."""
    found = {}
    for key, wanted in match.items():
        if key == "has_tool":
            if wanted not in [tool.get("name") for tool in body.get("tools") or []]:
                return None
            continue
        hit = re.search(wanted, _subject(key, body), re.S)
        if hit is None:
            return None
        found[key] = hit
    return found


def _subject(key: str, body: dict[str, Any]) -> str:
    if key == "model":
        return str(body.get("model"))
    if key == "system":
        return text_of(body.get("system"))
    if key == "last_user":
        return last_user(body)
    if key == "messages":
        return json.dumps(body.get("messages"), ensure_ascii=False)
    if key == "body":
        return json.dumps(body, ensure_ascii=False)
    raise ValueError(f"a script's match has an unknown key: {key}")


def fill(value: Any, number: int, found: dict[str, re.Match[str]]) -> Any:
    """`value` with the placeholders in every string inside it replaced."""
    if isinstance(value, str):

        def insert(placeholder: re.Match[str]) -> str:
            if placeholder.group(1) == "n":
                return str(number)
            key, group = placeholder.group(1)[2:].rsplit(":", 1)
            return found[key].group(int(group)) or ""

        return _PLACEHOLDER.sub(insert, value)
    if isinstance(value, list):
        return [fill(item, number, found) for item in value]
    if isinstance(value, dict):
        return {key: fill(item, number, found) for key, item in value.items()}
    return value


def message(
    reply: dict[str, Any], body: dict[str, Any], number: int, found: dict[str, re.Match[str]]
) -> dict[str, Any]:
    """The Messages API object that a reply becomes."""
    content = [{"type": "text", "text": reply["text"]}] if "text" in reply else []
    uses = reply.get("tool_use") or []
    for index, use in enumerate([uses] if isinstance(uses, dict) else uses):
        identity = use.get("id") or f"toolu_scripted{number:06}{index:02}"
        content.append(
            {"type": "tool_use", "id": identity, "name": use["name"], "input": use.get("input", {})}
        )
    return {
        "id": f"msg_scripted{number:06}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model") or "scripted",
        "content": fill(content, number, found),
        "stop_reason": reply.get("stop_reason") or ("tool_use" if uses else "end_turn"),
        "stop_sequence": None,
        "usage": {**USAGE, **reply.get("usage", {})},
    }


def stream(whole: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The server-sent events (name, data) that stream a message."""
    opening = {
        **whole,
        "content": [],
        "stop_reason": None,
        "usage": {**whole["usage"], "output_tokens": 1},
    }
    yield "message_start", {"type": "message_start", "message": opening}
    for index, block in enumerate(whole["content"]):
        if block["type"] == "text":
            start, kind, field, text = {"type": "text", "text": ""}, "text_delta", "text", block["text"]
        else:
            start, kind, field = {**block, "input": {}}, "input_json_delta", "partial_json"
            text = json.dumps(block["input"], ensure_ascii=False)
        yield (
            "content_block_start",
            {"type": "content_block_start", "index": index, "content_block": start},
        )
        for at in range(0, len(text), _CHUNK):
            delta = {"type": kind, field: text[at : at + _CHUNK]}
            yield (
                "content_block_delta",
                {"type": "content_block_delta", "index": index, "delta": delta},
            )
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    usage = {"output_tokens": whole["usage"]["output_tokens"]}
    yield "message_delta", {"type": "message_delta", "delta": ending, "usage": usage}
    yield "message_stop", {"type": "message_stop"}
