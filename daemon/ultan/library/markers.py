"""The part of a page that is derived: what stands between two markers; the rest is the person's."""

from __future__ import annotations

import re

_NAME = "[a-z]+"
_BLOCK = re.compile(rf"<!-- ultan:({_NAME})(?: [^\n]*?)?-->\r?\n(?:.*?\r?\n)??<!-- /ultan:\1 -->", re.DOTALL)
_ANY = re.compile(rf"<!-- /?ultan:{_NAME}\b")
NOTE = "kept by Ultan, changes here are overwritten"


class BrokenMarkers(ValueError):
    """Markers that do not pair, or more than one pair: nobody can say what is derived."""


def block(name: str, content: str) -> str:
    """`content` (lines, each ended by `\\n`) between the markers called `name`, without a final line end."""
    return f"<!-- ultan:{name} ({NOTE}) -->\n{content}<!-- /ultan:{name} -->"


def has(text: str) -> bool:
    return "<!-- ultan:" in text or "<!-- /ultan:" in text


def put(text: str, name: str, content: str) -> str:
    """`text` with the marked part made `content`; added at the end if there is none. The person's text and
    line ends stay. Raises BrokenMarkers."""
    newline = "\r\n" if "\r\n" in text else "\n"
    fresh = block(name, content).replace("\n", newline)
    found = _find(text)
    if found is not None:
        if found.group(1) != name:
            raise BrokenMarkers(f"the markers are called {found.group(1)}")
        return text[: found.start()] + fresh + text[found.end() :]
    gap = newline * (2 - (text[-4:].replace("\r", "").endswith("\n\n") + text.endswith("\n"))) if text else ""
    return text + gap + fresh + newline


def own_text(text: str) -> str:
    """The person's part: `text` without the marked part and the blank lines around it. Raises
    BrokenMarkers."""
    found = _find(text)
    if found is None:
        return text
    return text[: found.start()].rstrip() + "\n" + text[found.end() :].lstrip()


def same_own_text(path: str, one: bytes | None, other: bytes | None) -> bool:
    """Whether two states of a file differ at most in what is derived."""
    if one == other:
        return True
    if one is None or other is None or path.rpartition("/")[2].lower() != "readme.md":
        return False
    try:
        return own_text(one.decode("utf-8")).strip() == own_text(other.decode("utf-8")).strip()
    except (UnicodeDecodeError, BrokenMarkers):
        return False


def _find(text: str) -> re.Match[str] | None:
    found = _BLOCK.search(text)
    if len(_ANY.findall(text)) != (2 if found else 0):
        raise BrokenMarkers("the markers do not pair")
    return found
