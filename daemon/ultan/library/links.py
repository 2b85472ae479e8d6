"""Links between pages: finding them, resolving them, pointing them elsewhere.

A link is `[[target#heading|alias]]` (Obsidian's forms, embeds too) or `[text](relative.md)`. Nothing in code,
in comments or after a backslash is a link.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

from ultan.library.code import backslashed, inert_spans, is_inert

_WIKI = re.compile(
    r"!?\[\[(?P<target>[^\[\]|#^\n\\]*+)(?P<rest>(?:[#^][^\[\]|\n\\]*+)?(?:\\?\|[^\[\]\n]*+)?)\]\]"
)
_MARKDOWN = re.compile(
    r"!?\[[^\[\]\n]*+\]\((?:<(?P<wide>[^<>\n#?]++)|(?P<bare>[^()<>\s#?]++))(?P<rest>[^)\n]*+)\)"
)
_ATTACHMENT = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|bmp|avif|pdf|mp[34]|m4a|webm|wav|ogg|mov|canvas|base|csv|txt|json|excalidraw)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Link:
    """One link of a body. `target` as an id would be written (no `.md`, no blanks around, `..` kept); it
    stands at `start:stop` in the body, in line `line` of it (from 1). `alias` "" if none."""

    target: str
    heading: str
    alias: str
    embed: bool
    wiki: bool
    start: int
    stop: int
    line: int


@dataclass(frozen=True, slots=True)
class Resolved:
    """Where a link leads: `id` if to exactly one page; else `candidates` holds none or several."""

    id: str | None
    candidates: tuple[str, ...] = ()


def find(body: str) -> list[Link]:
    """All links of a body, in order. Links without a target (`[[#heading]]`), to other sites and to
    attachments are left out."""
    return [link for link in _scan(body) if link.target and not _ATTACHMENT.search(link.target)]


class Names:
    """An index of page ids for resolving links."""

    def __init__(self, ids: Collection[str]) -> None:
        self.ids = frozenset(ids)
        self._by_name: dict[str, list[str]] = {}
        for id in sorted(self.ids):
            self._by_name.setdefault(_folded(id.rpartition("/")[2]), []).append(id)

    def resolve(self, link: Link, source: str = "") -> Resolved:
        """Where `link` on the page `source` leads. A name or the end of a path resolves only if it is
        unique; among several pages none is guessed."""
        target = _normal(link.target)
        relative = posixpath.normpath(posixpath.join(source.rpartition("/")[0], target))
        if not link.wiki or target.startswith("."):
            return Resolved(relative) if relative in self.ids else Resolved(None)
        target = target.strip("/")
        if target in self.ids:
            return Resolved(target)
        wanted = _folded(target)
        same_name = self._by_name.get(wanted.rpartition("/")[2], [])
        ends = [id for id in same_name if _folded(id) == wanted or _folded(id).endswith("/" + wanted)]
        exact = [id for id in ends if id.endswith("/" + target)]
        if len(ends) > 1 and len(exact) == 1:
            ends = exact
        return Resolved(ends[0]) if len(ends) == 1 else Resolved(None, tuple(ends))


def repoint(body: str, moved: Mapping[str, str], names: Names, source: str, new_source: str = "") -> str:
    """`body` with every link to a key of `moved` (old id to new) leading to its value.

    `names`: the ids before the move; `source`: the page's own id, `new_source` its new one if it moves too.
    Alias, heading, embed mark and padding stay; a short link stays short while it still is unique.
    """
    after = Names([moved.get(id, id) for id in names.ids])
    place = new_source or source
    pieces, last = [], 0
    for link in find(body):
        old = names.resolve(link, source).id
        if old is None:
            continue
        new = moved.get(old, old)
        if after.resolve(link, place).id == new:
            continue
        pieces += [body[last : link.start], _spelled(body[link.start : link.stop], link, new, place)]
        last = link.stop
    return "".join([*pieces, body[last:]])


def backlinks(bodies: Mapping[str, str], names: Names) -> dict[str, list[str]]:
    """For each id the ids of the pages that link to it, sorted."""
    found: dict[str, set[str]] = {}
    for source, body in bodies.items():
        for link in find(body) if "[" in body else ():
            id = names.resolve(link, source).id
            if id is not None and id != source:
                found.setdefault(id, set()).add(source)
    return {id: sorted(sources) for id, sources in sorted(found.items())}


def _scan(body: str) -> Iterator[Link]:
    if "[[" not in body and "](" not in body:
        return
    inert = inert_spans(body)
    matches = [*_WIKI.finditer(body), *_MARKDOWN.finditer(body)]
    line, counted = 1, 0
    for match in sorted(matches, key=lambda match: match.start()):
        if not is_inert(match.start(), inert) and not backslashed(body, match.start()):
            line, counted = line + body.count("\n", counted, match.start()), match.start()
            link = _wiki(match, line) if match.re is _WIKI else _markdown(match, line)
            if link is not None:
                yield link


def _wiki(match: re.Match[str], line: int) -> Link:
    raw = match["target"]
    start = match.start("target") + len(raw) - len(raw.lstrip())
    heading, _, alias = match["rest"].partition("|")
    return Link(
        target=raw.strip().removesuffix(".md"),
        heading=heading.rstrip("\\").strip(),
        alias=alias.strip(),
        embed=match[0].startswith("!"),
        wiki=True,
        start=start,
        stop=start + len(raw.strip()),
        line=line,
    )


def _markdown(match: re.Match[str], line: int) -> Link | None:
    """A link to a page of the library by a relative path, else None."""
    group = "wide" if match["wide"] else "bare"
    target = unquote(match[group])
    if ":" in target or target.startswith("/") or not target.endswith(".md"):
        return None
    return Link(
        target=target.removesuffix(".md"),
        heading=match["rest"].strip(" >"),
        alias="",
        embed=match[0].startswith("!"),
        wiki=False,
        start=match.start(group),
        stop=match.end(group),
        line=line,
    )


def _spelled(text: str, link: Link, new: str, place: str) -> str:
    """The link's target text, made to lead to `new`; `.md` and a leading slash are kept."""
    if link.wiki:
        slash = "/" if text.startswith("/") else ""
        return slash + new + (".md" if text.endswith(".md") else "")
    path = posixpath.relpath(new + ".md", place.rpartition("/")[0] or ".")
    return quote(path, safe="/+~!$&'*,;=:@") if "%" in text or " " in path else path


def _normal(target: str) -> str:
    text = target.removesuffix(".md")
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _folded(text: str) -> str:
    return text.casefold()
