"""The part of a page that is worth a few lines: where its rule stands."""

from __future__ import annotations

import re
import unicodedata

from ultan.library.code import code_blocks
from ultan.library.entry import Entry

LIMIT = 280
_HEADING = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_RULE_LINE = re.compile(r"^ {0,3}(?:[-*_][ \t]*){3,}$")
_WIKI = re.compile(r"!?\[\[([^\[\]|\n]*)(?:\|([^\[\]\n]*))?\]\]")
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\)")
_MARKS = re.compile(r"^[ \t]*(?:[-*+][ \t]+(?:\[[ xX]\][ \t]+)?|\d{1,9}[.)][ \t]+|>[ \t]?)+")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
# What rules are said with. English only: elsewhere the first paragraph stands.
_RULE = re.compile(
    r"\b(?:always|never|must|don'?t|do not|should|use|prefer|avoid|only|instead|require[sd]?|rule|keep)\b",
    re.IGNORECASE,
)
_ASIDE = frozenset(
    "background,context,history,links,references,related,see also,source,sources,why".split(",")
)
_BACKGROUND = re.compile(rf"^(?:{'|'.join(sorted(_ASIDE))}|because|reason|note|example)\b", re.IGNORECASE)


def excerpt(entry: Entry, limit: int = LIMIT) -> str:
    """At most `limit` characters of the body on one line: the paragraph with the rule, and what follows.

    Headings, code, comments and link lists are left out; code stands only where there is nothing else. Cut
    between words where the script has spaces, never inside a combined character.
    """
    body = _COMMENT.sub("", entry.body)
    paragraphs = _paragraphs(body)
    if not paragraphs:
        return shorten(_only_code(body), limit)
    first = next((n for n, text in enumerate(paragraphs) if states_a_rule(text)), 0)
    return shorten(" ".join(paragraphs[first:]), limit)


def prose(entry: Entry) -> list[str]:
    """The body's paragraphs as plain words, without what an excerpt leaves out; code where that is all."""
    body = _COMMENT.sub("", entry.body)
    return _paragraphs(body) or [text for text in (_only_code(body),) if text]


def shorten(text: str, limit: int) -> str:
    """`text` on one line and in at most `limit` characters, the last one `…` if it was cut."""
    text = " ".join(text.split())
    if len(text) <= limit:
        return text
    stop = max(limit - 1, 0)
    while stop > 0 and _joined(text, stop):
        stop -= 1
    space = text.rfind(" ", 0, stop + 1)
    if space > stop - 30 and space > 0:
        stop = space
    return text[:stop].rstrip(" ,;:-") + "…" if limit > 0 else ""


def _joined(text: str, place: int) -> bool:
    """Whether cutting before `place` would tear a character made of several."""
    char, before = text[place], text[place - 1]
    return (
        bool(unicodedata.combining(char))
        or char in "\u200d\ufe0e\ufe0f"
        or before == "\u200d"
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or unicodedata.category(char) in ("Mn", "Mc", "Me")
    )


def states_a_rule(text: str) -> bool:
    """Whether a text tells what to do, and not why; by English words."""
    return bool(_RULE.search(text)) and not _BACKGROUND.match(text)


def _paragraphs(body: str) -> list[str]:
    """The prose of a body, one text a paragraph; side sections such as `## Related` left out."""
    found: list[str] = []
    lines: list[str] = []
    aside = False
    inside = {n for block in code_blocks(body) for n in _lines_of(body, block.start, block.stop)}

    def close() -> None:
        text = _plain(lines)
        if text and not aside:
            found.append(text)
        lines.clear()

    for number, line in enumerate(body.splitlines()):
        heading = _HEADING.match(line)
        if heading and number not in inside:
            close()
            aside = (heading[2] or "").strip().strip(":").lower() in _ASIDE
        elif number in inside or not line.strip() or _RULE_LINE.match(line):
            close()
        else:
            lines.append(line)
    close()
    return found


def _lines_of(body: str, start: int, stop: int) -> range:
    first = body.count("\n", 0, start)
    return range(first, first + len(body[start:stop].splitlines()))


def _plain(lines: list[str]) -> str:
    """Lines of markdown as plain words; list items are joined by `; `."""
    text = ""
    for line in lines:
        bare = _MARKS.sub("", line)
        words = _LINK.sub(r"\1", _WIKI.sub(_shown, bare)).replace("**", "").strip()
        if words and text:
            text += "; " if bare != line and not line.lstrip().startswith(">") else " "
        text += words
    return text.replace(".; ", ". ").replace(":; ", ": ")


def _shown(link: re.Match[str]) -> str:
    """What a wikilink shows: its alias, else the last part of its target."""
    target = link[1].strip().partition("#")[0]
    return (link[2] or target.rstrip("/").rpartition("/")[2]).strip(" \\")


def _only_code(body: str) -> str:
    blocks = [body[block.start : block.stop] for block in code_blocks(body)]
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    return " ".join(line for line in lines if not line.startswith(("```", "~~~")))
