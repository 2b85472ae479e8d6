"""Secrets become `[redacted:kind]` before anything reaches the disk.

Each rule has a literal without which it cannot match, and its pattern is compiled only when that literal
occurs: a hook that sees no secret compiles nothing. All patterns are linear in the text's length.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False  # known to type checkers; importing typing costs a hook milliseconds
if TYPE_CHECKING:
    from collections.abc import Callable

MARK = "[redacted:"

_NAMES = (
    r"pass(?:word|wd|phrase)|secret|token|api[_-]?key|apikey|access[_-]?key|private[_-]?key|client[_-]?secret|"
    r"auth[_-]?key|credentials?"
)

# (kind, literals of which one must occur (lower case), pattern, the group that is the secret; 0 is all)
_RULES: list[tuple[str, tuple[str, ...], str, int]] = [
    (
        "private-key",
        ("private key",),
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[\s\S]*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|[\s\S]*)",
        0,
    ),
    ("jwt", ("eyj",), r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]{4,})?", 0),
    ("github-token", ("github_pat_",), r"\bgithub_pat_[A-Za-z0-9_]{20,}", 0),
    (
        "github-token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
        r"(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{20,}",
        0,
    ),
    ("gitlab-token", ("glpat-",), r"\bglpat-[A-Za-z0-9_.-]{16,}", 0),
    ("aws-key-id", ("akia", "asia"), r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])", 0),
    (
        "api-key",
        ("sk-",),
        r"(?<![A-Za-z0-9])sk-(?=[A-Za-z0-9_-]{0,200}[0-9])[A-Za-z0-9][A-Za-z0-9_-]{18,}",
        0,
    ),
    ("stripe-key", ("_live_", "_test_"), r"(?<![A-Za-z0-9])[srp]k_(?:live|test)_[A-Za-z0-9]{12,}", 0),
    ("slack-token", ("xox", "xapp-"), r"(?<![A-Za-z0-9])(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}", 0),
    (
        "slack-webhook",
        ("hooks.slack.com",),
        r"hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{10,}",
        0,
    ),
    ("google-key", ("aiza",), r"(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{30,}", 0),
    ("google-token", ("ya29.",), r"(?<![A-Za-z0-9])ya29\.[A-Za-z0-9_-]{20,}", 0),
    ("npm-token", ("npm_",), r"(?<![A-Za-z0-9])npm_[A-Za-z0-9]{30,}", 0),
    ("pypi-token", ("pypi-",), r"(?<![A-Za-z0-9])pypi-[A-Za-z0-9_-]{40,}", 0),
    ("hub-token", ("hf_",), r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{25,}", 0),
    ("sendgrid-key", ("sg.",), r"(?<![A-Za-z0-9])SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", 0),
    ("digitalocean-token", ("_v1_",), r"(?<![A-Za-z0-9])do[opr]_v1_[a-f0-9]{40,}", 0),
    ("shopify-token", ("shp",), r"(?<![A-Za-z0-9])shp(?:at|ca|pa|ss)_[a-fA-F0-9]{24,}", 0),
    # scheme://user:password@host; the user and the host stay readable
    ("password", ("://",), r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@\"'<>]{0,128}:([^\s@\"'<>]{1,256})@", 1),
    (
        "authorization",
        ("bearer", "basic", "authorization"),
        r"(?i)\b(?:bearer|basic|authorization:\s{0,4}(?:token|apikey|api-key)?)\s{1,4}([A-Za-z0-9+/_.~=-]{16,})",
        1,
    ),
    # NAME_TOKEN=value as in .env files and exports; a reference ($X, ${X}, <X>) is no secret
    (
        "env-secret",
        ("secret", "token", "pass", "key", "credential"),
        r"(?m)(?:^|[\s;&\"'`(])(?:export[ \t]+|set[ \t]+)?"
        r"[A-Z0-9_]{0,60}(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIALS?)"
        r"[A-Z0-9_]{0,40}=(?![$<\[({])[\"']?(?![$<\[({]|[0-9]{1,7}\b)([^\s\"'`;&|)]{6,})",
        1,
    ),
    # "password": "value", api_key: 'value' in code, JSON and YAML
    (
        "secret",
        ("secret", "token", "pass", "key", "credential"),
        r"(?i)(?:" + _NAMES + r")[A-Za-z0-9_-]{0,40}[\"']?[ \t]{0,4}(?:=|:|=>)[ \t]{0,4}"
        r"[\"'](?![$<\[({])([^\s\"'`]{6,256})[\"']",
        1,
    ),
    # password: hunter2abc, --token 0123abcd: unquoted, so only what looks like a secret (has a digit)
    (
        "secret",
        ("secret", "token", "pass", "key", "credential"),
        r"(?i)(?:(?:" + _NAMES + r")[\"']?[ \t]{0,4}[:=][ \t]{0,4}|--?(?:" + _NAMES + r")[ =])"
        r"(?=[^\s\"'`,;()]{0,256}[0-9])(?![$<\[({\"'])([^\s\"'`,;()\[\]{}<>]{8,256})(?![\w(\[])",
        1,
    ),
]
_compiled: dict[str, re.Pattern[str]] = {}

_SECRET_KEYS = frozenset(
    "password passwd passphrase secret api_key apikey api-key access_token refresh_token auth_token "
    "private_key client_secret authorization x-api-key secret_key secret_access_key".split()
)


def redact(text: str) -> str:
    """`text` with each secret replaced by `[redacted:kind]`; redacting twice changes nothing more."""
    lowered = text.lower()
    for kind, literals, pattern, group in _RULES:
        if not any(literal in lowered for literal in literals):
            continue
        compiled = _compiled.get(pattern)
        if compiled is None:
            compiled = _compiled[pattern] = re.compile(pattern)
        text = compiled.sub(_replacement(kind, group), text)
    return text


def _replacement(kind: str, group: int) -> Callable[[re.Match[str]], str]:
    mark = MARK + kind + "]"

    def replace(match: re.Match[str]) -> str:
        if not group:
            return mark
        start, end = match.span(group)
        if MARK in match.group(group):
            return match.group()
        whole = match.start()
        return match.group()[: start - whole] + mark + match.group()[end - whole :]

    return replace


def redact_value(value: object) -> object:
    """A JSON value with every string in it redacted, keys too; a value under a telling key goes whole."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [redact_value(item) for item in value]
    if isinstance(value, dict):
        return {
            redact(str(key)): (
                MARK + "secret]"
                if str(key).lower() in _SECRET_KEYS
                and isinstance(item, str)
                and item
                and not item.startswith(MARK)
                else redact_value(item)
            )
            for key, item in value.items()
        }
    return value
