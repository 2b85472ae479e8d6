"""The only tokenizer: what the hook's fallback, the catalog and BM25 take for a word, in any language.

Words are folded (NFKC, accents, case), stemmed lightly and freed of function words. Identifiers stay whole
and come in parts too: `--no-verify` gives `--no-verify`, `no-verify`, `verify`. Text without spaces becomes
pairs of characters. Standard library only and cheap to import: each hook pays for it.
"""

from __future__ import annotations

import re

from ultan.wire.stems import stem
from ultan.wire.stopwords import STOP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# Beyond this many characters the middle of a text is left out: a paste of that size says the same twice.
CHARACTER_LIMIT = 200_000
TOKEN_CHARACTERS = 64
PATH_SEGMENTS = 8
FIRST_SPACELESS = "\u0e01"
_LONGEST_COMPOUND = 400

# A word or a compound: parts joined by one connector (or `::`, `/.`), with what may stand before and after.
_COMPOUND = re.compile(
    r"(?:(?<![\w-])--?(?=[^\W\d_])|(?<![\w.])\.(?=[^\W\d_]))?"
    r"\w+(?:(?:['’.:@+/\\-]|::|/\.|\.\./)\w+)*(?:(?:\+\+|#)(?![\w+#]))?"
)
_SEGMENT = re.compile(r"[/\\:@]+")
_PART = re.compile(r"[\W_]+")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\dA-Za-z_]+|\d+")
_PLAIN = re.compile(r"[a-z]+\Z")
_INNER_CAPITAL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_MIXED = re.compile(r"\d[^\W\d_]{2}|[^\W\d_]{2}\d")


# What compounds gave before: a library repeats its words.
_KNOWN: dict[str, list[str]] = {}
_KNOWN_LIMIT = 50_000


def tokenize(text: str) -> list[str]:
    """The tokens of `text` in the order they stand, repeated as often as they stand. Never raises."""
    if len(text) > CHARACTER_LIMIT:
        half = CHARACTER_LIMIT // 2
        text = text[:half] + "\n" + text[-half:]
    if not text.isascii():
        from ultan.wire import scripts

        text, runs = scripts.fold(text)
        tokens = [token for run in runs for token in scripts.tokens(run)]
    else:
        tokens = []
    if len(_KNOWN) > _KNOWN_LIMIT:
        _KNOWN.clear()
    for match in _COMPOUND.findall(text):
        found = _KNOWN.get(match)
        if found is None:
            found = _of_compound(match)
            if len(match) <= TOKEN_CHARACTERS:
                _KNOWN[match] = found
        tokens += found
    return tokens


def _of_compound(text: str) -> list[str]:
    """The tokens of one word or compound."""
    lower = text.casefold()
    if _PLAIN.match(lower) and not _INNER_CAPITAL.search(text):
        return _of_word(lower)
    if len(text) > _LONGEST_COMPOUND:
        return [token for part in _PART.split(text[:_LONGEST_COMPOUND]) for token in _of_part(part)]
    if "'" in lower or "’" in lower:
        return _of_contraction(text.replace("’", "'"))
    tokens: list[str] = []
    segments = [segment for segment in _SEGMENT.split(text) if segment]
    if len(segments) > 1:
        for segment in segments[-PATH_SEGMENTS:]:
            tokens += _of_compound(segment)
        whole = lower.strip("/\\:@")
        return _with_whole(whole, tokens)
    for part in _PART.split(text):
        tokens += _of_part(part)
    bare = lower.lstrip("-.")
    if bare != lower:
        tokens = _with_whole(bare, tokens) if _PART.search(bare) else tokens
        return _with_whole(lower, tokens) if len(lower) > 2 or not tokens else tokens
    return _with_whole(lower, tokens)


def _with_whole(whole: str, tokens: list[str]) -> list[str]:
    """The parts, and the whole before them where it says more than its parts."""
    if whole in tokens or len(whole) > TOKEN_CHARACTERS or len(whole) < 2 or whole in STOP:
        return tokens
    if not tokens and all(part in STOP for part in _PART.split(whole) if part) and whole[0].isalpha():
        return tokens  # and/or
    return [whole, *tokens]


def _of_part(part: str) -> list[str]:
    """A part between connectors: itself, and its humps where it is camelCase or letters beside digits."""
    lower = part.casefold()
    if _PLAIN.match(lower) and not _INNER_CAPITAL.search(part):
        return _of_word(lower)
    if lower.isdigit():
        return [lower] if 2 < len(lower) <= TOKEN_CHARACTERS else []
    tokens: list[str] = []
    if _INNER_CAPITAL.search(part) or _MIXED.search(part):
        for hump in _HUMP.findall(part):
            if not hump.isdigit():
                tokens += _of_word(hump.casefold())
    return _with_whole(lower if lower.isdigit() else stem(lower), tokens)


def _of_word(lower: str) -> list[str]:
    if len(lower) < 2 or lower in STOP or len(lower) > TOKEN_CHARACTERS:
        return []
    return [stem(lower)]


def _of_contraction(text: str) -> list[str]:
    """`don't` is a function word, `owner's` is the owner, `l'eau` is the word after the article."""
    if text.replace("'", "").casefold() in STOP:
        return []
    return [token for part in text.split("'") if len(part) > 2 for token in _of_compound(part)]


def counts(entry: Mapping[str, object]) -> dict[str, int]:
    """How often an entry holds each token: in its title (counts twice), `applies_when`, tags and body."""
    tags = entry.get("tags")
    words = tags if isinstance(tags, (list, tuple)) else ()
    found: dict[str, int] = {}
    title = str(entry.get("title") or "")
    fields = (title, title, entry.get("applies_when"), " ".join(map(str, words)), entry.get("body"))
    for text in fields:
        for token in tokenize(str(text or "")):
            found[token] = found.get(token, 0) + 1
    return found


def is_name(token: str) -> bool:
    """Whether a token is an identifier: not letters alone, not a number."""
    return token.isascii() and not token.isalpha() and not token.isdigit()


def is_pair(token: str) -> bool:
    """Whether a token is a pair of characters of a text without spaces (or a word of such a script)."""
    return token >= FIRST_SPACELESS
