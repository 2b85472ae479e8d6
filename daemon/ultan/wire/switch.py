"""Turning Ultan off and on: one line of `config.toml`, and the derived file that the hooks read.

Standard library only, so that the slash command works in the hook, with the daemon down.
"""

from __future__ import annotations

import json
import re

from ultan.wire.files import read_limited, write_atomic
from ultan.wire.home import Home

_LIMIT = 1 << 20
_LINE = re.compile(r"^[ \t]*daemon[ \t]*=[^\n#]*(#[^\n]*)?$", re.M)
_TABLE = re.compile(r"^[ \t]*\[", re.M)


def turn(home: Home, state: str) -> bool:
    """Set `daemon = "off"` or `"on"`; True when that changed something. Every other byte is kept.

    The hooks' derived settings change with it, so that the very next hook obeys. Raises OSError.
    """
    if state not in ("on", "off"):
        raise ValueError("the state is on or off, not %r" % state)
    home.ensure()
    try:
        old: str | None = read_limited(home.config, _LIMIT).decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        old = None
    new = edited(old or "", state)
    if new == old:
        return False
    try:
        derived = json.loads(read_limited(home.hook_config, _LIMIT))
        known = isinstance(derived, dict) and derived.get("config_text") == old
    except (OSError, ValueError):
        derived, known = {"v": 1}, old is None
    write_atomic(home.config, new.encode("utf-8", "surrogateescape"))
    if known:
        derived.update({"config_text": new, "daemon": state})
        write_atomic(
            home.hook_config, json.dumps(derived, ensure_ascii=False).encode("utf-8", "surrogatepass")
        )
    return True


def edited(text: str, state: str) -> str:
    """`text` of a config.toml with the top-level `daemon` key set; a line is added where there is none."""
    table = _TABLE.search(text)
    head = text[: table.start()] if table else text
    rest = text[len(head) :]
    match = _LINE.search(head)
    if match:
        if re.search(r"=\s*[\"']%s[\"']" % state, match.group()):
            return text
        comment = "  " + match.group(1) if match.group(1) else ""
        return head[: match.start()] + 'daemon = "%s"%s' % (state, comment) + head[match.end() :] + rest
    if state == "on":
        return text  # on is the default
    return 'daemon = "off"\n' + text
