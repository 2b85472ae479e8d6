"""Plain rules for a note that the person hands over with `/ultan`: its type, title, scope, folder and name.

No model is asked: the words decide, and the person can change each of them in the file afterwards.
"""

from __future__ import annotations

import re
import unicodedata

TITLE_CHARS = 80
NAME_CHARS = 60
NAME_BYTES = 120

# First match wins; looked for in the lower-cased text.
_TYPES = (
    (
        "warning",
        r"\b(?:careful|beware|watch out|warning|danger(?:ous)?|will (?:break|destroy|delete|wipe|lose)|"
        r"(?:destroys|deletes|wipes|loses|corrupts)\b|irreversibl[ey]|data loss)",
    ),
    (
        "finding",
        r"\b(?:turns? out|turned out|found (?:out )?that|the (?:root )?cause|because of a bug|it fails|"
        r"fails? (?:when|if|with)|only works|does(?:n't| not) work|the fix (?:is|was)|fixed by|the reason|"
        r"error means|takes? about)\b",
    ),
    (
        "convention",
        r"\b(?:we|our|ours|team|everyone|convention|always|every|must|all (?:new|the)|naming|"
        r"name[sd]? (?:are|is)|go(?:es)? (?:in|into|under|through))\b",
    ),
    (
        "reference",
        r"^\s*(?:https?://\S+|see\s+https?://\S+)|\b(?:documented|lives|docs are|runbook is) (?:at|in)\b",
    ),
)
_EVERYWHERE = re.compile(
    r"\b(?:everywhere|globally|global rule|"
    r"in (?:all|every|any|each) (?:my |of my |our )?(?:projects?|repos?|repositor(?:y|ies))|"
    r"(?:all|across) (?:my |our )?(?:projects|repos|repositories)|whatever the project|for all projects)\b",
    re.I,
)
_HERE = re.compile(
    r"\b(?:in|for|of) this (?:project|repo|repository|codebase|service)\b|"
    r"\bthis (?:project|repo|codebase)\b|\bhere\b",
    re.I,
)
_LIST_MARK = re.compile(r"^(?:[#>*•-]+\s+)+")
_LEAD_IN = re.compile(r"^(?:please\s+)?(?:remember|note|fyi|nb)(?:\s+that|\s*[:,-])\s+", re.I)

# A folder for a note with no neighbour in the library: the first topic that the text names.
_TOPICS = (
    (
        "git",
        "git commit commits committing branch branches merge merging squash rebase push pull-request pr"
        " cherry-pick changelog",
    ),
    ("python", "python pip uv poetry pytest mypy ruff django flask fastapi pydantic venv"),
    ("javascript", "javascript typescript node npm pnpm yarn react vue svelte eslint vite jest"),
    ("go", "golang gofmt goroutine goroutines"),
    ("rust", "rust cargo clippy crate crates"),
    ("containers", "docker dockerfile container containers kubernetes kubectl k8s helm pod pods"),
    ("deploy", "deploy deploys deployment release releases rollout rollback staging production prod"),
    ("testing", "test tests testing fixture fixtures mock mocks coverage flaky"),
    ("databases", "database databases sql postgres postgresql mysql sqlite migration migrations schema"),
    ("security", "secret secrets password passwords token tokens credential credentials auth encryption"),
    ("ci", "ci pipeline pipelines workflow workflows runner runners"),
    ("docs", "docs documentation readme docstring docstrings comment comments wording spelling"),
    ("style", "naming style format formatting indent indentation tabs spaces lint linter"),
    ("tools", "editor shell terminal tmux makefile just script scripts"),
)
DEFAULT_FOLDER = "notes"


def note_type(text: str) -> str:
    """convention, preference, finding, warning or reference, by the words used; preference when none tell."""
    lowered = text.lower()
    for kind, pattern in _TYPES:
        if re.search(pattern, lowered):
            return kind
    return "preference"


def title(text: str) -> str:
    """The first sentence of the first line that says something, at most 80 characters, in one line."""
    for line in text.splitlines():
        clean = "".join(c if unicodedata.category(c)[0] != "C" else " " for c in line)
        clean = _LIST_MARK.sub("", " ".join(clean.split()))
        clean = _LEAD_IN.sub("", clean) or clean
        if any(c.isalnum() for c in clean):
            sentence = re.split(r"(?<=[.!?。！？])\s+|(?<=[。！？])", clean, maxsplit=1)[0]
            return _shorten(sentence.rstrip(".。 ") or sentence)
    return _shorten(" ".join(text.split())) or "Note"


def _shorten(text: str) -> str:
    if len(text) <= TITLE_CHARS:
        return text
    cut = text[: TITLE_CHARS - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > TITLE_CHARS // 2 else cut).rstrip(" ,;:") + "…"


def is_global(text: str, in_repository: bool) -> bool:
    """Whether a note holds everywhere: when it says so, or was said outside any repository.

    What is said inside a repository is that project's, unless the words say otherwise.
    """
    if _EVERYWHERE.search(text):
        return True
    return not in_repository and not _HERE.search(text)


def folder(text: str) -> str:
    """The topic folder by keyword, `notes` when no topic is named."""
    words = set(re.findall(r"[a-z0-9][a-z0-9-]*", text.lower()))
    best, most = DEFAULT_FOLDER, 0
    for name, keys in _TOPICS:
        hits = len(words & set(keys.split()))
        if hits > most:
            best, most = name, hits
    return best


def file_name(text: str, taken: frozenset[str] | set[str]) -> str:
    """A file name (without .md) of the title's words, in any script, not among `taken` (case-folded)."""
    folded = unicodedata.normalize("NFC", text).lower().replace("'", "").replace("’", "")
    parts = re.findall(r"[^\W_]+(?:[._][^\W_]+)*", folded)
    name = ""
    for part in parts:
        longer = name + "-" + part if name else part
        if len(longer) > NAME_CHARS or len(longer.encode("utf-8")) > NAME_BYTES:
            break
        name = longer
    if not name:
        name = "".join(parts)[: NAME_BYTES // 4] or "note"
    if name.casefold() in ("readme", "index", "log", "con", "nul", "aux", "prn"):
        name += "-note"
    unique, number = name, 1
    while unique.casefold() in taken:
        number += 1
        unique = "%s-%d" % (name, number)
    return unique


_NEGATIONS = frozenset(
    "no not never none don't dont doesn't won't can't cannot without avoid stop "
    "nicht kein keine nie jamais pas nunca nada".split()
)


def same_saying(first: str, second: str) -> bool:
    """Whether two texts say the same in nearly the same words, in the same order.

    Numbers, negations and code-like words must agree exactly: `4 spaces` is not `2 spaces`.
    """
    one, two = _words(first), _words(second)
    if not one or not two:
        return first.strip() == second.strip()
    if one == two:
        return True
    if min(len(one), len(two)) < 4 or max(len(one), len(two)) > 2 * min(len(one), len(two)):
        return False
    if _telling(one) != _telling(two):
        return False
    import difflib

    return difflib.SequenceMatcher(None, one, two, autojunk=False).ratio() >= 0.85


def _words(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", text[:20000]).lower().replace("’", "'")
    return re.findall(r"[^\W_][\w.'+#/-]*[\w+#]|[^\W_]|--?[a-z][\w-]*", folded)


def _telling(words: list[str]) -> list[str]:
    return sorted(
        word
        for word in words
        if word in _NEGATIONS or not word.replace("'", "").isalpha() or word.endswith("n't")
    )
