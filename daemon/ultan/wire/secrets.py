"""What secrets look like: one rule a kind, each linear in the text's length.

A group in a pattern is the part that is the secret; without a group all of it is. At most one group matches.
What only refers to a secret (`$TOKEN`, `${TOKEN}`, `<token>`, `get_token()`, `config.token`) is none.
"""

from __future__ import annotations

import re


class Rule:
    """`pattern` finds secrets of one kind; it is tried only where one of the (lower-case) literals occurs."""

    __slots__ = ("_compiled", "kind", "literals", "pattern")

    def __init__(self, kind: str, literals: str, pattern: str) -> None:
        self.kind = kind
        self.literals = tuple(literals.split("|"))
        self.pattern = pattern
        self._compiled: re.Pattern[str] | None = None

    def compiled(self) -> re.Pattern[str]:
        if self._compiled is None:
            self._compiled = re.compile(self.pattern)
        return self._compiled


_NAMES = (
    r"pass(?:word|wd|phrase)|secret|token|credentials?|"
    r"(?:api|access|private|auth|secret|signing|encryption|account)[_-]?key"
)
# As in DB_PASSWORD_2, secretKey, SECRET_KEY_BASE; other endings (tokenizer, token_type) name something else.
_ENDING = r"(?:[_-]?(?:access[_-]?key|key[_-]?base|key|value|\d{1,3}))?"
_NAME_LITERALS = (
    "password|passwd|passphrase|secret|token|credential|_key|-key|apikey|"
    "sskey|atekey|thkey|ingkey|ionkey|ntkey"
)

# What stands in a secret's place without being one: a reference, a call, a path, a word for the absent.
_REFERENCE = r"(?![$<({\[*]|%\(|\\?\{)"
_CODE = (
    r"(?![A-Za-z_][\w.]{0,80}[(\[])"
    r"(?!(?:self|cls|this|config|settings|conf|cfg|app|process|os|env|environ|args|opts|options|request|req|ctx|"
    r"context|secrets|params|kwargs|data|user|var|local|module|vault|response|resp|event)\.[A-Za-z_])"
)
_PATH = r"(?!(?:\.{0,2}|~)/[\w.-]+(?:/|[\"'\s]|$))(?!https?://)"
_NUMBER = r"(?![0-9][0-9_.,]{0,6}(?:[\s\"'`;&|)]|$))"
_WORD = (
    r"(?!(?:pass(?:word|wd)|secret|token|bearer|basic|string|str|text|none|null|nil|true|false|required|optional|"
    r"hidden|default|disabled|enabled|changeme|your[_-][\w-]{0,40}|x{3,40}|\*{3,40}|example|undefined|username|"
    r"api[_-]?key|number|object|boolean|integer)(?![\w-]))"
)
_NOT = _REFERENCE + _CODE + _PATH + _NUMBER + r"(?i:" + _WORD + r")"
# In text that holds text (JSON in a shell line, a dump) quotes come with backslashes before them.
_QUOTE = r"\\{0,3}[\"'`]"
_BARE = r"(?:[^\s\"'`\\]|\\(?![nrt\"'\\]))"

# At the start of a word, also where an escaped line end (\n as two characters) stands before it.
_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"

RULES = (
    Rule(
        "private-key",
        "private key",
        r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
        r"(?:[\s\S]*?-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|[\s\S]*)",
    ),
    Rule(
        "jwt",
        "eyj",
        r"eyJ[A-Za-z0-9_-]{8,400}\.{1,2}[A-Za-z0-9_-]{8,8000}(?:\.[A-Za-z0-9_-]{1,8000}){0,3}",
    ),
    Rule("github-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{20,}"),
    Rule("github-token", "ghp_|gho_|ghu_|ghs_|ghr_", r"gh[pousr]_[A-Za-z0-9]{20,}"),
    Rule(
        "gitlab-token",
        "glpat-|glptt-|glrt-|gldt-|gloas-|glcbt-|glft-|glsoat-|glagent-",
        r"gl(?:pat|ptt|rt|dt|oas|cbt|ft|soat|agent)-[A-Za-z0-9_.-]{16,}",
    ),
    Rule(
        "aws-key-id", "akia|asia|abia|acca", r"(?<![A-Z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Z0-9])"
    ),
    Rule(
        "api-key",
        "sk-",
        _START + r"sk-(?=[A-Za-z0-9_-]{0,200}[0-9])[A-Za-z0-9][A-Za-z0-9_-]{18,}",
    ),
    Rule("stripe-key", "k_live_|k_test_", r"[srp]k_(?:live|test)_[A-Za-z0-9]{12,}"),
    Rule("slack-token", "xox|xapp-", r"(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}"),
    Rule(
        "webhook",
        "hooks.slack.com|/api/webhooks/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{10,}"
        r"|/api/webhooks/[0-9]{5,30}/[A-Za-z0-9_-]{20,}",
    ),
    Rule("google-key", "aiza|ya29.|gocspx-", r"AIza[A-Za-z0-9_-]{30,}|(?:ya29\.|GOCSPX-)[A-Za-z0-9_-]{20,}"),
    Rule(
        "registry-token",
        "npm_|pypi-|hf_|dckr_|rubygems_",
        _START + r"(?:npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{40,}|hf_[A-Za-z0-9]{25,}|"
        r"dckr_[a-z]{3}_[A-Za-z0-9_-]{20,}|rubygems_[a-f0-9]{30,})",
    ),
    Rule("sendgrid-key", "sg.", _START + r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    Rule(
        "api-key",
        "_v1_|shp|lin_api_|ntn_|sbp_|gls|pscale_|gsk_|xai-|r8_|pplx-|whsec_|dapi|atatt3|age-secret-key-|tskey-|"
        "sntrys_|nvapi-|figd_",
        _START + r"(?:do[opr]_v1_|shp(?:at|ca|pa|ss)_|lin_api_|ntn_|sbp_|glsa_|pscale_[a-z]{2,5}_|gsk_|xai-|"
        r"r8_|pplx-|whsec_|dapi|ATATT3|AGE-SECRET-KEY-|tskey-|sntrys_|nvapi-|figd_)"
        r"(?=[A-Za-z0-9_=+/-]{0,200}[0-9])[A-Za-z0-9_=+/-]{20,}",
    ),
    Rule("bot-token", ":aa", _START + r"[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}"),
    # scheme://user:password@host; the user and the host stay readable. A port and a path with an @ are none.
    Rule(
        "password",
        "://",
        r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@\"'<>\[]{0,128}:(?![0-9]{1,5}[/?#]|//)"
        r"(?!\$\{?\w{1,80}\}?@|\$\([^)\s]{1,80}\)@|\{{1,2}[^}@\s]{1,80}\}{1,2}@|%\w@|\*{1,40}@)"
        r"((?:[^\s/\"'<>]{1,256}|(?:(?!://)[^\s@\"'<>]){1,256}))@",
    ),
    Rule(
        "token",
        "://",
        r"https?://(?=[A-Za-z0-9_-]{0,200}[0-9])([A-Za-z0-9_-]{20,200})@",
    ),
    Rule(
        "authorization",
        "authorization",
        r"(?i)authorization[\"'\\]{0,4}\s{0,4}[:=]\s{0,4}[\"'\\]{0,4}"
        r"(?:(?:bearer|basic|token|apikey|api-key|digest|bot)\s{1,4}"
        r"(?=[^\s\"']{0,400}[0-9=]|[a-z+/_-]{20}|(?-i:[A-Za-z]{0,400}[a-z][A-Z]))([a-z0-9+/_.~=:-]{8,})"
        r"|(?=[^\s\"']{0,400}[0-9=]|[a-z+/_-]{20})([a-z0-9+/_.~=:-]{8,}))",
    ),
    Rule(
        "authorization",
        "bearer|basic",
        r"(?i)\b(?:bearer|basic)\s{1,4}(?=[A-Za-z0-9+/_.~-]{0,400}[0-9])([A-Za-z0-9+_-][A-Za-z0-9+/_.~-]{15,}={0,2})",
    ),
    Rule(
        "header",
        "x-",
        r"(?i)\bx-[a-z-]{0,30}(?:key|token|secret)[\"'\\]{0,4}\s{0,3}:\s{0,3}[\"'\\]{0,4}"
        + _REFERENCE
        + r"([^\s\"'\\]{8,})",
    ),
    Rule(
        "cookie",
        "cookie",
        r"(?i)\b(?:set-)?cookie[\"'\\]{0,4}:\s{0,4}[\"'\\]{0,4}([A-Za-z0-9_.-]{1,60}=(?![$<{\[])[^\n\"'\\]{8,4000})",
    ),
    # NAME_TOKEN=value as in .env files and exports
    Rule(
        "env-secret",
        _NAME_LITERALS,
        r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))[A-Z0-9_]{0,60}"
        r"(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|CREDENTIALS?|"
        r"(?:API|ACCESS|PRIVATE|AUTH|SIGNING|ENCRYPTION|ACCOUNT)_?KEY)"
        r"(?!S?_?(?:FILE|PATH|DIR|NAME|TTL|TYPE|LEN|LIMIT|COUNT|SIZE|EXPIR|UR[LI]|HOST|POLICY|PREFIX|HEADER|FIELD|"
        r"ENABLED|REQUIRED))(?!S=)[A-Z0-9_]{0,40}="
        r"(?:"
        + _QUOTE
        + _REFERENCE
        + r"([^\"'`\n]{4,512}?)"
        + _QUOTE
        + "|"
        + _NOT
        + "("
        + _BARE
        + r"{6,512}))",
    ),
    # "password": "value", api_key: 'value', token: str = "value" in code, JSON and YAML
    Rule(
        "secret",
        _NAME_LITERALS,
        r"(?i)(?:" + _NAMES + ")" + _ENDING + r"(?:" + _QUOTE + r")?"
        r"(?:[ \t]{0,3}:[ \t]{0,3}[a-z_][\w.\[\]|]{0,40}(?=[ \t]{0,3}=))?"
        r"[ \t]{0,4}(?:=>|:=|={1,3}|:)[ \t]{0,4}" + _QUOTE + _NOT + r"([^\s\"'`]{5,256}?)" + _QUOTE,
    ),
    # password: hunter2, --token 0123abcd: unquoted, so only what looks like a secret (has a digit)
    Rule(
        "secret",
        _NAME_LITERALS,
        r"(?i)(?:(?:" + _NAMES + ")" + _ENDING + r"[\"']?[ \t]{0,4}[:=][ \t]{0,4}"
        r"|(?<![\w-])--?[a-z-]{0,30}(?:" + _NAMES + r")[ =\n])"
        r"(?=[^\s\"'`,;()]{0,256}[0-9])" + _NOT + r"([^\s\"'`,;()\[\]{}<>\\]{6,256})(?![\w(\[])",
    ),
    Rule(
        "password",
        "password is|passphrase is|password was|passwort ist",
        r"(?i)\b(?:password|passphrase|passwort) (?:is|was|ist):? {0,2}[\"'`]?"
        r"(?=[^\s\"'`]{0,256}[0-9])([^\s\"'`,;]{6,256})",
    ),
    Rule(
        "secret",
        "token is|key is|secret is",
        r"(?i)\b(?:token|key|secret) is:? {0,2}[\"'`]?"
        r"(?=[A-Za-z0-9_+/=.-]{0,256}[0-9])([A-Za-z0-9_+/=.-]{20,256})",
    ),
    Rule(
        "password",
        "</pass|</secret|</token|</api",
        r"(?i)<(?:" + _NAMES + r")>" + _REFERENCE + r"([^<\s]{4,256})</",
    ),
    Rule(
        "connection-string",
        "server=|accountname=|data source=|endpoint=|uid=|user id=",
        r"(?i)(?:^|[;\"'\s])(?:password|pwd|accountkey|sharedaccesskey)[ ]?=[ ]?"
        + _REFERENCE
        + r"([^;\s\"']{4,512})",
    ),
    Rule(
        "password",
        "curl |sshpass|mysql|password ",
        r"\bcurl\b[^\n|;]{0,300}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,64}:(?![$<{\[])([^\s\"']{3,256})"
        r"|\bsshpass\s{1,3}-p[ ]?[\"']?(?![$<{])([^\s\"']{3,256})"
        r"|\bmysql[a-z]{0,10}\b[^\n|;]{0,200}?\s-p[\"']?(?![$<{])([^\s\"']{4,256})"
        r"|\blogin\s{1,4}\S{1,128}\s{1,4}password\s{1,4}(\S{3,256})",
    ),
)
