"""What counts as a word."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ultan.wire.tokens import CHARACTER_LIMIT, TOKEN_CHARACTERS, counts, tokenize


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("may I use --no-verify", ["--no-verify", "no-verify"]),
        ("what does ADR-016 say", ["adr-016", "adr", "016"]),
        ("C++ and C#", ["c++", "c#"]),
        ("the .env file", [".env", "env"]),
        ("see src/api/.env", [".env"]),
        ("call snake_case_name", ["snake_case_name", "snak", "cas"]),
        ("useCallback", ["usecallback", "callback"]),
        ("HTTPServer", ["httpserver", "http", "serv"]),
        ("open src/Table.tsx", ["src/table.tsx", "table.tsx", "tabl", "tsx"]),
        ("python3.12", ["python3.12", "python"]),
        ("sqlalchemy.exc.MissingGreenlet", ["sqlalchemy.exc.missinggreenlet", "missinggreenlet"]),
        ("git push -f", ["git", "push", "-f"]),
        ("std::vec", ["std::vec", "std", "vec"]),
        ("release 1.5.0", ["1.5.0"]),
    ],
)
def test_an_identifier_stays_whole_and_comes_in_parts(text: str, expected: list[str]) -> None:
    assert set(expected) <= set(tokenize(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yes do it",
        "ok thanks",
        "what is it?",
        "und wie ist das",
        "谢谢",
        "こんにちは",
        "a b c",
        "-- ... !!",
        "and/or",
    ],
)
def test_function_words_and_single_letters_are_no_tokens(text: str) -> None:
    assert tokenize(text) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("deploys", "deploying"),
        ("retries", "retry"),
        ("migrations", "migrate"),
        ("Café", "cafe"),
        ("ＦＵＬＬ", "full"),
        ("ﬁle", "file"),
        ("STRASSE", "straße"),
        ("the owner's", "owner"),
        ("l’eau", "eau"),
        ("ids", "ID"),
    ],
)
def test_spellings_of_one_word_are_one_token(one: str, other: str) -> None:
    assert tokenize(one) == tokenize(other) != []


@pytest.mark.parametrize(
    ("text", "among"),
    [
        ("单元测试要先跑吗", {"单元", "测试"}),
        ("デプロイの前に承認はいる？", {"デプ", "プロ", "ロイ", "承認"}),
        ("色の好み", {"色"}),
        ("금요일에는 배포하지 않는다.", {"금요", "요일", "배포", "금요일에는"}),
        ("ภาษาไทย", {"ภา"}),
        ("ພາສາລາວ", {"ພາ"}),
        ("ភាសាខ្មែរ", set()),
        ("မြန်မာ", set()),
        ("हिन्दी में", {"हिन्दी"}),
        ("развёртывание", {"развертывание"}),
    ],
)
def test_text_without_spaces_becomes_pairs_and_other_scripts_keep_their_words(
    text: str, among: set[str]
) -> None:
    tokens = tokenize(text)
    assert tokens
    assert among <= set(tokens)


def test_pairs_of_a_noun_match_whatever_particle_follows_it() -> None:
    assert set(tokenize("금요일 배포 가능해?")) & set(tokenize("금요일에는 배포하지 않는다."))
    assert set(tokenize("force pushしていい？")) == {"forc", "push"}


@given(st.text(max_size=400))
def test_any_text_gives_the_same_short_tokens_twice(text: str) -> None:
    tokens = tokenize(text)
    assert tokens == tokenize(text)
    assert all(0 < len(token) <= TOKEN_CHARACTERS for token in tokens)
    assert all(token == token.strip() and "\n" not in token for token in tokens)
    assert not any(len(token) == 1 and token.isascii() for token in tokens)


@given(st.text(st.characters(codec=None, categories=["L", "M", "N", "P", "S", "Cs"]), max_size=200))
@settings(max_examples=200)
def test_every_script_and_broken_unicode_can_be_tokenized(text: str) -> None:
    assert all(isinstance(token, str) for token in tokenize(text))


@given(st.text("ab'’.:/@-_+#\\ C9é日", max_size=120))
def test_any_tangle_of_connectors_can_be_tokenized(text: str) -> None:
    assert tokenize(text) == tokenize(text)


@pytest.mark.parametrize(
    "unit", ["a'", "a.b/", "x", "/foo", "--", "日本語の", "é", "aB", "word ", "\ud800a ", "๏ก้"]
)
def test_two_megabytes_of_anything_are_bounded(unit: str) -> None:
    text = unit * (2_000_000 // len(unit))
    begun = time.monotonic()
    tokens = tokenize(text)
    assert len(tokens) <= 2 * CHARACTER_LIMIT
    assert time.monotonic() - begun < 20


def test_the_start_and_the_end_of_a_huge_text_are_kept() -> None:
    tokens = tokenize("zebra " + "filler " * 400_000 + "walrus")
    assert tokens[0] == "zebra"
    assert tokens[-1] == "walrus"


def test_the_words_of_a_title_count_twice() -> None:
    found = counts({"title": "Respx", "applies_when": "mocking", "tags": ["http"], "body": "respx, not vcr"})
    assert found == {"respx": 3, "mock": 1, "http": 1, "vcr": 1}
    assert counts({}) == {}
