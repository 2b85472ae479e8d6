from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ultan.wire import project

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git makes the repositories of this test")


def git(folder: Path, *arguments: str) -> None:
    environ = {
        **os.environ,
        **{f"GIT_{who}_{what}": "dev" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    subprocess.run(["git", *arguments], cwd=folder, env=environ, check=True, capture_output=True, timeout=60)


@pytest.fixture
def repository_with_remote(tmp_path: Path) -> Path:
    folder = tmp_path / "work" / "shop"
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    git(folder, "remote", "add", "upstream", "https://github.com/other/shop")
    git(folder, "remote", "add", "origin", "git@github.com:Acme/Shop.git")
    git(folder, "commit", "-q", "--allow-empty", "-m", "begin")
    return folder


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/acme/shop.git",
        "https://github.com/acme/shop",
        "https://github.com/acme/shop/",
        "http://user@github.com/acme/shop.git",
        "https://user:pa55word@github.com/acme/shop.git",
        "https://user:pa/55@github.com/acme/shop.git",
        "https://user:pa@55@github.com/acme/shop.git",
        "https://x-access-token:abcdef@github.com:443/acme/shop.git",
        "ssh://git@github.com/acme/shop.git",
        "ssh://git@github.com:22/acme/shop.git",
        "git://github.com/acme/shop.git",
        "git+ssh://git@github.com/acme/shop.git",
        "git@github.com:acme/shop.git",
        "git@github.com:/acme/shop.git",
        "github.com:acme/shop",
        "GIT@GitHub.com:Acme/Shop.git",
        "https://github.com/acme/shop.git?token=abc",
        "https://github.com/acme/shop#main",
        "  https://github.com//acme/shop.git  ",
    ],
)
def test_every_spelling_of_a_remote_is_one_address_without_its_password(url: str) -> None:
    assert project.normalise_remote(url) == "github.com/acme/shop"


@pytest.mark.parametrize(
    "url", ["", "/srv/git/shop.git", "../shop", "./a:b", "file:///srv/shop", "shop", "https://"]
)
def test_a_local_remote_has_no_address(url: str) -> None:
    assert project.normalise_remote(url) is None


def test_an_address_keeps_its_host_and_all_its_folders() -> None:
    assert project.normalise_remote("ssh://git@[::1]:2222/a/b.git") == "[::1]/a/b"
    assert (
        project.normalise_remote("git@gitlab.example.com:group/sub/shop.git")
        == "gitlab.example.com/group/sub/shop"
    )


@given(st.text(max_size=60))
def test_any_text_can_be_asked_for_its_address(text: str) -> None:
    found = project.normalise_remote(text)
    assert found is None or found == found.lower()
    project.slugify(text)
    project.identities(text)
    project.identities("/" + text)


@needs_git
def test_a_repository_is_known_by_origin_then_by_its_folder(repository_with_remote: Path) -> None:
    (repository_with_remote / "src" / "deep").mkdir(parents=True)
    wanted = ["remote:github.com/acme/shop", "path:" + os.path.realpath(repository_with_remote)]
    assert project.identities(str(repository_with_remote)) == wanted
    assert project.identities(str(repository_with_remote / "src" / "deep")) == wanted
    assert project.default_name(wanted) == "shop"


@needs_git
def test_a_worktree_is_its_repository(repository_with_remote: Path, tmp_path: Path) -> None:
    git(repository_with_remote, "worktree", "add", "-q", str(tmp_path / "elsewhere" / "hotfix"))
    (tmp_path / "elsewhere" / "hotfix" / "src").mkdir()
    wanted = project.identities(str(repository_with_remote))
    assert project.identities(str(tmp_path / "elsewhere" / "hotfix")) == wanted
    assert project.identities(str(tmp_path / "elsewhere" / "hotfix" / "src")) == wanted


@needs_git
@pytest.mark.parametrize("bare", ["shop.git", ".bare"])
def test_the_worktrees_of_a_bare_repository_are_one_project(
    repository_with_remote: Path, tmp_path: Path, bare: str
) -> None:
    place = tmp_path / "trees"
    place.mkdir()
    git(place, "clone", "-q", "--bare", str(repository_with_remote), bare)
    git(place / bare, "remote", "remove", "origin")
    for name in ("one", "two"):
        git(place / bare, "worktree", "add", "-q", str(place / name), "-b", name)
    one, two = (project.identities(str(place / name)) for name in ("one", "two"))
    assert one == two == ["path:" + os.path.realpath(place if bare == ".bare" else place / bare)]


@needs_git
def test_a_submodule_is_a_project_of_its_own(repository_with_remote: Path, tmp_path: Path) -> None:
    lib = tmp_path / "lib"
    lib.mkdir()
    git(lib, "init", "-q")
    git(lib, "commit", "-q", "--allow-empty", "-m", "begin")
    allow = ("-c", "protocol.file.allow=always")
    git(repository_with_remote, *allow, "submodule", "--quiet", "add", str(lib), "vendor/lib")
    found = project.identities(str(repository_with_remote / "vendor" / "lib"))
    assert found == ["path:" + os.path.realpath(repository_with_remote / "vendor" / "lib")]


def test_two_folders_of_one_name_are_two_projects(tmp_path: Path) -> None:
    for parent in ("a", "b"):
        (tmp_path / parent / "shop").mkdir(parents=True)
    one, two = (project.identities(str(tmp_path / parent / "shop")) for parent in ("a", "b"))
    assert one != two
    assert project.default_name(one) == project.default_name(two) == "shop"
    assert not project.same_project(one, two)


def test_a_folder_reached_through_a_link_is_the_folder(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert project.identities(str(tmp_path / "link")) == project.identities(str(tmp_path / "real"))


@pytest.mark.parametrize("cwd", ["", "relative/path", "/a\x00b", "/a\ud800b"])
def test_what_can_be_no_folder_has_no_identity(cwd: str) -> None:
    assert project.identities(cwd) == []
    assert not project.in_repository(cwd)


def test_a_folder_that_is_gone_is_still_known_by_its_path() -> None:
    assert project.identities("/no/such/folder") == ["path:/no/such/folder"]


@pytest.mark.parametrize(
    ("config", "wanted"),
    [
        ('[remote "origin"]\n\turl = git@github.com:acme/shop.git\n', "github.com/acme/shop"),
        ('[remote "origin"] url = git@github.com:acme/shop.git\n', "github.com/acme/shop"),
        ('[Remote "origin"]\n\tURL=https://github.com/acme/shop ; mine\n', "github.com/acme/shop"),
        ('[remote "origin"]\nurl = "https://github.com/acme/shop" # mine\n', "github.com/acme/shop"),
        ('[remote "a"]\nurl = https://x.org/a/b\n[remote "origin"]\nurl = git@github.com:acme/shop\n',
         "github.com/acme/shop"),
        ('[remote "a"]\nurl = https://x.org/a/b\n', "x.org/a/b"),
        ('[branch "main"]\nremote = origin\nurl = https://x.org/a/b\n', None),
        ('[remote "origin"]\npushurl = https://x.org/a/b\n', None),
        ("garbage \xff [[[\n= = =\n", None),
        ("", None),
    ],
)  # fmt: skip
def test_the_remote_is_read_from_any_form_of_the_config(
    tmp_path: Path, config: str, wanted: str | None
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text(config, "latin-1")
    remotes = [name for name in project.identities(str(tmp_path)) if name.startswith("remote:")]
    assert remotes == ([f"remote:{wanted}"] if wanted else [])


@pytest.mark.parametrize("text", ["", "gitdir: nowhere", "nonsense", "gitdir: \x00"])
def test_a_broken_git_file_leaves_the_folder(tmp_path: Path, text: str) -> None:
    (tmp_path / ".git").write_text(text)
    assert project.identities(str(tmp_path)) == ["path:" + os.path.realpath(tmp_path)]


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("My Shop", "my-shop"),
        ("a/b\\c", "a-b-c"),
        ("--x--", "x"),
        ("..", ""),
        ("Größe", "größe"),
        ("a_b.c", "a_b.c"),
    ],
)
def test_a_slug_is_fit_for_a_folder(text: str, slug: str) -> None:
    assert project.slugify(text) == slug


@pytest.mark.parametrize(
    ("listed", "mine", "same"),
    [
        (["remote:h/a/b"], ["remote:h/a/b", "path:/x"], True),
        (["path:/x"], ["remote:h/a/b", "path:/x"], True),
        (["remote:h/a/c", "path:/x"], ["remote:h/a/b", "path:/x"], False),
        (["path:/y"], ["path:/x"], False),
        ([], [], False),
    ],
)
def test_a_remote_decides_where_both_sides_have_one(listed: list[str], mine: list[str], same: bool) -> None:
    assert project.same_project(listed, mine) is same
