"""Secrets become `[redacted:kind]` before anything reaches the disk.

The rules are in `secrets`. Each has literals without which it is not tried, and its pattern is compiled only
when one of them occurs: a hook that sees nothing telling compiles nothing.
"""

from __future__ import annotations

import re

from ultan.wire.secrets import RULES, Rule

TYPE_CHECKING = False  # known to type checkers; importing typing costs a hook milliseconds
if TYPE_CHECKING:
    from collections.abc import Callable

MARK = "[redacted:"
_SECRET = MARK + "secret]"
# Names of fields whose whole value is a secret, without `_` and `-`.
_TELLING = tuple(
    """password passwd passphrase secret apikey accesstoken refreshtoken authtoken sessiontoken privatekey
    secretkey secretaccesskey accesskey signingkey encryptionkey authorization xapikey""".split()
)
_SHORTEST_TOKEN = 16
# A match can hide another that begins inside it; the next pass sees that one.
_MOST_PASSES = 5


def redact(text: str) -> str:
    """`text` with each secret replaced by `[redacted:kind]`; redacting twice changes nothing more."""
    for _ in range(_MOST_PASSES):
        clean = _redact_once(text)
        if clean == text:
            break
        text = clean
    return text


def _redact_once(text: str) -> str:
    lowered = text.lower()
    for rule in RULES:
        if any(literal in lowered for literal in rule.literals):
            text = rule.compiled().sub(_replacement(rule), text)
    if "private key" in lowered and "-end " in lowered:
        text = _without_key_tail(text)
    return text


def _replacement(rule: Rule) -> Callable[[re.Match[str]], str]:
    mark = MARK + rule.kind + "]"

    def replace(match: re.Match[str]) -> str:
        found = match.group()
        group = match.lastindex or 0
        start, end = (at - match.start() for at in match.span(group))
        return found[:start] + mark + found[end:]

    return replace


def _without_key_tail(text: str) -> str:
    """`text` without the end of a private key whose beginning is not in it (the tail of a file, a diff)."""
    lines = text.split("\n")
    at = len(lines)
    while at > 0:
        at -= 1
        if "PRIVATE KEY" not in lines[at] or "-END " not in lines[at]:
            continue
        first = at
        while first > 0 and _is_key_line(lines[first - 1]):
            first -= 1
        lines[first : at + 1] = [MARK + "private-key]"]
        at = first
    return "\n".join(lines)


def _is_key_line(line: str) -> bool:
    line = line.strip().lstrip("+-| ")
    return len(line) >= 16 and re.fullmatch(r"[A-Za-z0-9+/=]+", line) is not None


def redact_value(value: object) -> object:
    """A JSON value with every string in it redacted, keys too; a value under a telling key goes whole."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        if len(value) > 1 and all(isinstance(item, str) for item in value):
            # the lines of one text, or the words of one command: a secret may reach over several of them
            text = "\n".join(str(item) for item in value)
            clean = redact(text)
            return clean.split("\n") if clean != text else value
        return [redact_value(item) for item in value]
    if isinstance(value, dict):
        return {
            redact(str(key)): _SECRET if _is_secret_field(str(key), item) else redact_value(item)
            for key, item in value.items()
        }
    return value


def _is_secret_field(key: str, value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
        return False
    if isinstance(value, str) and value.startswith(MARK):
        return False
    name = key.lower().replace("_", "").replace("-", "")
    if name.endswith(_TELLING):
        return True
    return name.endswith("token") and len(str(value)) >= _SHORTEST_TOKEN and " " not in str(value)
