"""Which project a folder belongs to, found by reading `.git` files: no git is run.

A project is the repository, not the folder: worktrees, subfolders and clones of one remote are one project,
and two unrelated folders of one name are two. So a project has identities, best first:

    remote:github.com/acme/shop     the normalised address of its remote
    path:/home/dev/shop             the main working tree (or the folder itself, outside a repository)
"""

from __future__ import annotations

import os

_READ_LIMIT = 256 * 1024


def identities(cwd: str) -> list[str]:
    """The identities of the project that `cwd` lies in, best first; empty for an unusable `cwd`."""
    real = _real(cwd)
    if not real:
        return []
    found = _repository(real)
    if found is None:
        return ["path:" + real]
    common, tree = found
    names = []
    url = _remote_url(os.path.join(common, "config"))
    remote = normalise_remote(url) if url else None
    if remote:
        names.append("remote:" + remote)
    names.append("path:" + tree)
    return names


def default_name(names: list[str]) -> str:
    """A slug for a project without a name of its own: the last part of its best identity."""
    if not names:
        return ""
    return slugify(os.path.basename(names[0].split(":", 1)[1].rstrip("/")))


def slugify(text: str) -> str:
    """`text` in lower case with everything but letters, digits, `.` and `_` turned into single dashes."""
    parts = "".join(c if c.isalnum() or c in "._" else "-" for c in text.lower()).split("-")
    return "-".join(part for part in parts if part).strip(".")


def normalise_remote(url: str) -> str | None:
    """`host/owner/name` for any spelling of a remote; None for a local path.

    User names and passwords in the address are dropped, as are the scheme, the port and `.git`.
    """
    url = url.strip()
    if "://" in url:
        scheme, rest = url.split("://", 1)
        if scheme.lower() == "file":
            return None
        host, _, path = rest.partition("/")
        port = host.rpartition(":")[2]
        if "@" not in host and ":" in host and "@" in path and not port.isdigit() and host[:1] != "[":
            # a password with a slash in it: user:pa/ss@host
            host, _, path = rest.rpartition("@")[2].partition("/")
        host = host.rpartition("@")[2]
    elif ":" in url and not url.startswith(("/", ".")) and "/" not in url.split(":", 1)[0]:
        host, _, path = url.partition(":")  # scp form: user@host:owner/name
        host = host.rpartition("@")[2]
    else:
        return None
    host = host.partition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]
    path = path.split("?")[0].split("#")[0].strip("/")
    if path.endswith(".git"):
        path = path[:-4]
    parts = [part for part in path.split("/") if part]
    if not host or not parts:
        return None
    # Case is folded whole: the common hosts ignore it, and two spellings are one project.
    return "/".join([host.lower()] + [part.lower() for part in parts])


def _repository(folder: str) -> tuple[str, str] | None:
    """(common git folder, main working tree) of the repository around `folder`, or None."""
    while True:
        mark = os.path.join(folder, ".git")
        if os.path.isdir(mark):
            return mark, folder
        if os.path.isfile(mark):
            return _linked(folder, mark)
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def _linked(folder: str, mark: str) -> tuple[str, str]:
    """The same for a worktree or submodule, whose `.git` is a file that names the real folder."""
    text = _read(mark).strip()
    if not text.startswith("gitdir:") or "\0" in text:
        return mark, folder
    git = os.path.realpath(os.path.join(folder, text[len("gitdir:") :].strip()))
    common = _read(os.path.join(git, "commondir")).strip()
    if not common or "\0" in common:  # a submodule is a project of its own
        return git, folder
    shared = os.path.realpath(os.path.join(git, common))
    tree = os.path.dirname(shared) if os.path.basename(shared) in (".git", ".bare") else shared
    return shared, tree


def _remote_url(config: str) -> str | None:
    """The url of `origin`, else of the first remote, in a git config file."""
    first = None
    remote = ""
    for line in _read(config).splitlines():
        line = line.strip()
        if line.startswith("["):
            section, _, line = line[1:].partition("]")
            kind, _, name = section.strip().partition(" ")
            remote = name.strip().strip('"') if kind.lower() == "remote" else ""
        key, _, value = line.partition("=")
        if remote and key.strip().lower() == "url":
            url = _config_value(value.strip())
            if remote == "origin":
                return url
            first = first or url
    return first


def _config_value(text: str) -> str:
    """A value of a git config file without its quotes or its comment."""
    if text.startswith('"'):
        return text[1:].partition('"')[0]
    return text.partition("#")[0].partition(";")[0].strip()


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as handle:
            return handle.read(_READ_LIMIT)
    except OSError:
        return ""


def same_project(listed: list[str], mine: list[str]) -> bool:
    """Whether the identities that a library's project lists and those found at a folder mean one project.

    A remote decides where both sides have one: another repository may since stand at the same path.
    """
    my_remotes = {name for name in mine if name.startswith("remote:")}
    their_remotes = {name for name in listed if name.startswith("remote:")}
    if my_remotes & their_remotes:
        return True
    if my_remotes and their_remotes:
        return False
    return bool(set(mine) & set(listed) - my_remotes - their_remotes)


def in_repository(cwd: str) -> bool:
    """Whether a folder lies in a git repository."""
    real = _real(cwd)
    return bool(real) and _repository(real) is not None


def _real(cwd: str) -> str:
    """The absolute folder without links; "" for what can be no folder's path."""
    try:
        return os.path.realpath(cwd) if os.path.isabs(cwd) else ""
    except ValueError:  # a NUL or a lone surrogate
        return ""
