"""Other scripts than plain English letters: folding, and pairs of characters where no spaces part the words.

Imported only for texts that hold a character outside ASCII.
"""

from __future__ import annotations

import re
import unicodedata

_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30fe\u31f0-\u31ff"
_HIRAGANA = "\u3041-\u3096\u309d\u309e"
_HANGUL = "\uac00-\ud7a3\u1100-\u11ff"
_THAI_LAO = "\u0e01-\u0e2e\u0e30-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf"
_KHMER_MYANMAR = "\u1780-\u17d3\u17dd\u1000-\u103f\u1050-\u109d"
# Spaces part the words of the Indic scripts, but their vowel signs are no letters to `\w`.
_INDIC = "\u0900-\u0963\u0966-\u0dff"
_RUN = re.compile(
    "[%s]+|[%s]+|[%s]+|[%s]+|[%s]+|[%s]+"
    % (_HAN, _KATAKANA, _HIRAGANA, _HANGUL, _THAI_LAO + _KHMER_MYANMAR, _INDIC)
)
_ACCENTS = re.compile("[\u0300-\u036f\u0591-\u05c7\u0640\u064b-\u065f\u0670]+")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]+")
_CLUSTER = re.compile("[\u0e40-\u0e44\u0ec0-\u0ec4]?\\w[^\\w\u0e40-\u0e44\u0ec0-\u0ec4]*")

# Grammar of Chinese, one character each: they end a word, and alone or in pairs they say nothing.
_PARTICLES = re.compile("[的了着吗呢吧啊呀哦嘛么们]")
_GRAMMAR = frozenset(
    "过是在有和与或及不没别也都就还又才很太更最这那哪个些什怎样我你您他她它咱把被给对从到向为因所以如果但而且其之"
    "于要会能可应该得想请谢让做来去上下里中后前时候一二两几多少好何方事物用"
)
_KOREAN_ENDINGS = frozenset(
    (
        "니다 습니 합니 입니 하는 하지 않는 않다 는다 한다 하다 에는 에서 으로 까지 "
        "부터 해요 어요 아요 이다 했다 됩니 된다 되는 하고 있다 있는 없다 없는 해서 "
        "하면 세요 하세 주세 해주 녕하 안녕 감사 사합 나요 가요 이는 에게 한테 지만 "
        "려고 는지 인가 일까 할까 해야 야해 야한 그리 리고 그런 이런 저런 무엇 어떻 "
        "떻게 어떤 우리 저는 나는 "
    ).split()
)


def fold(text: str) -> tuple[str, list[str]]:
    """(the text for the scanner of words, folded, its runs of other scripts blanked; those runs in order)."""
    text = unicodedata.normalize("NFKD", text)
    text = _INVISIBLE.sub("", _ACCENTS.sub("", text))
    text = unicodedata.normalize("NFKC", text)
    runs = _RUN.findall(text)
    return (_RUN.sub(" ", text), runs) if runs else (text, runs)


def tokens(run: str) -> list[str]:
    """The tokens of one run of one script that `fold` found."""
    first = run[0]
    if "\u3041" <= first <= "\u309e":
        return []  # hiragana by itself is grammar: endings, particles, greetings
    if "\uac00" <= first <= "\ud7a3" or "\u1100" <= first <= "\u11ff":
        return _of_korean(run)
    if "\u0900" <= first <= "\u0dff":
        return [run] if 1 < len(run) <= 64 else []
    if first < "\u3000":
        return _pairs(_CLUSTER.findall(run))
    if "\u30a1" <= first <= "\u30fe" or "\u31f0" <= first <= "\u31ff":
        return _pairs(list(run)) or [run]
    return [token for word in _PARTICLES.split(run) if word for token in _of_han(word)]


def _pairs(signs: list[str]) -> list[str]:
    return [one + two for one, two in zip(signs, signs[1:])]  # noqa: B905, RUF007 (newer than Python 3.9)


def _of_han(word: str) -> list[str]:
    if len(word) == 1:
        return [] if word in _GRAMMAR else [word]
    return [pair for pair in _pairs(list(word)) if pair[0] not in _GRAMMAR or pair[1] not in _GRAMMAR]


def _of_korean(run: str) -> list[str]:
    """The word as it stands, and its pairs: those of the noun match whatever particle follows it."""
    found = [pair for pair in _pairs(list(run)) if pair not in _KOREAN_ENDINGS]
    return [run, *found] if 2 < len(run) <= 64 and found else found
