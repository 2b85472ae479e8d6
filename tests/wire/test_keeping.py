"""No tool writes in the home without the person being asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from ultan.wire.home import Home
from ultan.wire.keeping import written

WRITING = (
    "echo x > {home}/knowledge/a.md",
    "echo x >>{home}/config.toml",
    "rm -rf {home}",
    "rm -r ~",
    "rm -rf $HOME/",
    "rm -rf ~/.agent-mem/knowledge",
    "rm -rf ${{AGENT_MEM_HOME}}/journal",
    'cp /tmp/x "$AGENT_MEM_HOME/knowledge/global/x.md"',
    "cd {home} && rm events.jsonl",
    "cd ~/.agent-mem/knowledge; sed -i s/block/advise/ global/a.md",
    "sed --in-place=.bak s/a/b/ {home}/knowledge/a.md",
    "mv {home}/knowledge/a.md /tmp/",
    "tee {home}/x < /dev/null",
    "echo x | sudo tee -a {home}/config.toml",
    "bash -c 'echo x > {home}/config.toml'",
    "find {home} -name '*.md' -delete",
    "find ~ -name '*.md' -exec rm {{}} +",
    "git -C {home}/knowledge reset --hard",
    "git -C {home}/knowledge checkout .",
    "python3 -c \"open('{home}/config.toml', 'w')\"",
    "dd if=/dev/zero of={home}/home.json",
    "tar xf x.tar -C {home}",
    "rm -rf ~/.agent-*",
    "rm -rf {parent}/*",
    "vim {home}/knowledge/a.md",
    "chmod -R 777 ~",
    "ln -sf /tmp/x {home}/config.toml",
    "rsync -a --delete /tmp/x/ {home}/",
    "echo 'x > {home}/a",
)
READING = (
    "ls {home}",
    "cat {home}/knowledge/a.md",
    "grep -rn deploy ~/.agent-mem/knowledge | head",
    "cd {home}/knowledge && git log --oneline",
    "git -C {home}/knowledge status",
    "cp {home}/knowledge/a.md /tmp/",
    "cat {home}/config.toml > /tmp/copy",
    "find {home} -name '*.md'",
    "sed -n 1,3p {home}/knowledge/a.md",
    "AGENT_MEM_HOME={home} ultan list",
    "ultan trigger list",
    "rm -rf build",
    "rm -rf ../build",
    "echo hello > out.txt",
    "ls ~",
    "cp -r src ~/backup",
    "git commit -m 'about {home}'",
)


@pytest.fixture
def place(home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Home:
    """A home where it usually is."""
    user = tmp_path / "user"
    (user / ".agent-mem" / "knowledge").mkdir(parents=True)
    (user / "work").mkdir()
    monkeypatch.setenv("HOME", str(user))
    return Home(str(user / ".agent-mem"))


def bash(place: Home, command: str) -> str:
    parent = str(Path(place.root).parent)
    line = command.format(home=place.root, parent=parent)
    return written(place.root, "Bash", {"command": line}, parent + "/work", {"HOME": parent})


@pytest.mark.parametrize("command", WRITING)
def test_a_command_that_may_write_in_the_home_is_noticed(place: Home, command: str) -> None:
    assert bash(place, command)


@pytest.mark.parametrize("command", READING)
def test_a_command_that_only_reads_or_works_elsewhere_is_let_be(place: Home, command: str) -> None:
    assert bash(place, command) == ""


@pytest.mark.parametrize("tool", ["Write", "Edit", "MultiEdit"])
def test_file_tools_are_noticed_by_their_path(place: Home, tool: str) -> None:
    inside = str(Path(place.knowledge, "global", "new.md"))
    work = str(Path(place.root).parent / "work")
    assert written(place.root, tool, {"file_path": inside}, "/")
    assert written(place.root, tool, {"file_path": "../.agent-mem/x.md"}, work)
    assert written(place.root, tool, {"file_path": f"{work}/x/../../.agent-mem/x"}, "/")
    assert written(place.root, tool, {"file_path": f"{work}/x.md"}, "/") == ""
    assert written(place.root, tool, {"file_path": place.root + "-other/x.md"}, "/") == ""
    assert written(place.root, tool, {"file_path": 7, "content": inside}, "/") == ""


def test_a_link_into_the_home_is_the_home(place: Home) -> None:
    link = Path(place.root).parent / "work" / "notes"
    link.symlink_to(place.knowledge)
    assert written(place.root, "Write", {"file_path": str(link / "a.md")}, "/")
    assert written(place.root, "Bash", {"command": "rm -rf .agent-mem"}, str(Path(place.root).parent))


def test_tools_of_a_server_are_noticed_by_any_path_they_are_given(place: Home) -> None:
    inside = str(Path(place.knowledge, "a.md"))
    for tool in ("mcp__files__write_file", "mcp__files__move", "mcp__x__edit"):
        assert written(place.root, tool, {"to": {"paths": [inside]}}, "/")
        assert written(place.root, tool, {"to": "/tmp/a.md", "text": f"see {inside}\n"}, "/") == ""
    for tool in ("mcp__files__read_file", "mcp__files__list_directory", "mcp__ultan__remember"):
        assert written(place.root, tool, {"path": inside}, "/") == ""
    assert written(place.root, "Read", {"file_path": inside}, "/") == ""
