"""Whether a call of a tool may write in the home: then the person is asked, whatever the library says.

What an agent could write there would be read as the person's own word. Reading is free. Of a shell line each
command that names the home, or a folder around it, counts as writing, unless it is known only to read.
"""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ultan.wire.shell import Command

_READING_TOOLS = frozenset(
    """Read Grep Glob LS NotebookRead WebFetch WebSearch Task Agent Skill TodoWrite BashOutput
    KillShell""".split()
)
_WRITING_FIELDS = ("file_path", "notebook_path", "path")
# A tool of a server that is named so only looks.
_LOOKS = re.compile(
    r"(?:^|[_-])(?:read|get|list|search|find|view|show|stat|tree|info|recall|status|directory)"
)
_OURS = ("mcp__ultan__", "mcp__plugin_ultan_")
_READERS = frozenset(
    """cat ls head tail less more grep egrep fgrep rg ag ack wc stat file diff cmp tree du df test [ realpath
    readlink basename dirname echo printf pwd cd pushd popd sha256sum sha1sum md5sum cksum jq uniq cut tr nl
    od xxd hexdump strings column fold bat ultan type which true false exit export source . wait""".split()
)
# Readers, unless an option makes them write.
_WRITING_OPTIONS = {
    "find": ("-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprintf", "-fls"),
    "sort": ("-o", "--output"),
    "sed": ("-i", "--in-place"),
    "awk": ("-i",),
    "tee": ("",),
}
_GIT_READS = frozenset(
    "log diff status show blame ls-files grep rev-parse cat-file shortlog describe".split()
)
# Their last argument is written, the others are read.
_COPIERS = frozenset("cp rsync install ln scp".split())
# They reach what lies below the folder that they are given.
_DEEP = frozenset("rm mv shred chmod chown chgrp rsync find rmdir unlink truncate setfacl".split())
_DEPTH = 4
# They run a text that they are given.
_PROGRAMS = re.compile(
    r"(?:python|perl|ruby|node|deno|bun|php|lua|osascript|awk|gawk|sqlite3|ex|ed|vim?)[\d.]*$"
)


def written(
    root: str, tool: str, given: dict[str, object], cwd: str, environ: Mapping[str, str] | None = None
) -> str:
    """The path in the home that a call may write to; "" for none. root: the home."""
    if tool in _READING_TOOLS or tool.startswith(_OURS):
        return ""
    home = Place(root, environ or os.environ)
    if tool == "Bash":
        command = given.get("command")
        return home.of_line(command, cwd) if isinstance(command, str) and home.is_named(command, cwd) else ""
    if tool.startswith("mcp__"):
        if _LOOKS.search(tool.rpartition("__")[2].lower()):
            return ""
        named = _strings(given, _DEPTH)
    else:
        named = (value for name in _WRITING_FIELDS if isinstance(value := given.get(name), str))
    return next((text for text in named if home.holds(text, cwd)), "")


class Place:
    """The home, by all the names that a path to it may have."""

    def __init__(self, root: str, environ: Mapping[str, str]) -> None:
        self.root = os.path.abspath(root)
        self.real = os.path.realpath(root)
        self.variables = {"AGENT_MEM_HOME": self.root, "HOME": environ.get("HOME") or os.path.expanduser("~")}

    def is_named(self, command: str, cwd: str) -> bool:
        """A first look at a shell line: whether it may reach the home at all."""
        if self.holds(".", cwd) or self.below(".", cwd):
            return True
        name = os.path.basename(self.root)
        return name in command or "AGENT_MEM_HOME" in command or _SHORT.search(command) is not None

    def of_line(self, command: str, cwd: str) -> str:
        """The path that one of a line's commands may write to."""
        from ultan.wire.shell import parse

        line = parse(command)
        for one in line.commands:
            found = self._of_command(one, cwd)
            if found:
                return found
            if one.words[:1] in (["cd"], ["pushd"]) and len(one.words) == 2:
                cwd = self._path(one.words[1], cwd)
        if not line.whole and (self.root in command or os.path.basename(self.root) in command):
            return self.root
        return ""

    def _of_command(self, command: Command, cwd: str) -> str:
        target = next((path for path in command.writes if self.holds(path, cwd)), "")
        if target or not command.words:
            return target
        name, words = os.path.basename(command.words[0]), command.words[1:]
        if name in _READERS or (name == "git" and _git_reads(words)):
            return ""
        options = _WRITING_OPTIONS.get(name)
        if options and name != "tee" and not any(word.startswith(options) for word in words):
            return ""
        operands = [word for word in words if not word.startswith("-") or "=" in word]
        if name in _COPIERS and not any(word.startswith(("-t", "--target")) for word in words):
            operands = operands[-1:]
        for word in operands:
            for text in (word, word.partition("=")[2]):
                if text and (self.holds(text, cwd) or (name in _DEEP and self.below(text, cwd))):
                    return text
        if _PROGRAMS.match(name) and any(self.root in word or self.real in word for word in words):
            return self.root  # in the text of a program, such as that of python -c
        return ""

    def holds(self, text: str, cwd: str) -> bool:
        """Whether a path is the home or lies in it."""
        if not text or "\0" in text or len(text) > 4096:
            return False
        path = self._path(text, cwd)
        if any(char in path for char in "*?["):
            return self._globbed(path)
        forms = {path, _real(path)}
        return any(form == root or form.startswith(root + "/") for form in forms for root in self._roots())

    def below(self, text: str, cwd: str) -> bool:
        """Whether the home lies in a folder."""
        if not text or "\0" in text or len(text) > 4096:
            return False
        path = self._path(text, cwd)
        if any(char in path for char in "*?["):
            return any(
                fnmatchcase(root, path + ("/*" if count < root.count("/") else ""))
                for root in self._roots()
                if (count := path.count("/")) <= root.count("/")
            )
        return any(
            root.startswith(form.rstrip("/") + "/") for form in (path, _real(path)) for root in self._roots()
        )

    def _globbed(self, path: str) -> bool:
        for root in self._roots():
            parts, wanted = path.split("/"), root.split("/")
            if len(parts) >= len(wanted) and all(map(fnmatchcase, wanted, parts)):
                return True
        return False

    def _roots(self) -> set[str]:
        return {self.root, self.real}

    def _path(self, text: str, cwd: str) -> str:
        for name, value in self.variables.items():
            text = text.replace("${%s}" % name, value)
            text = re.sub(r"\$%s(?![A-Za-z0-9_])" % name, lambda _, value=value: value, text)  # type: ignore[misc]
        if text == "~" or text.startswith("~/"):
            text = self.variables["HOME"] + text[1:]
        return os.path.normpath(os.path.join(cwd or "/", text))


# Names for the folders around the home: `rm -rf ~` reaches it too.
_SHORT = re.compile(r"~|\$\{?HOME\b|(?:^|\s)(?:/|\.\.?|\*)")


def _git_reads(words: list[str]) -> bool:
    """Whether a git command only looks, as far as its first word that is no option says."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in ("-C", "-c", "--git-dir", "--work-tree") else 1
    return at < len(words) and words[at] in _GIT_READS


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path


def _strings(value: object, depth: int) -> Iterator[str]:
    """The texts in a tool's input that may be paths."""
    if isinstance(value, str):
        if "\n" not in value and ("/" in value or value.startswith("~")):
            yield value
    elif depth and isinstance(value, (dict, list)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _strings(one, depth - 1)
