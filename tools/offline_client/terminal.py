"""The client in a terminal, as a person has it: keys go in, a screen comes out."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
import threading
from pathlib import Path

PASTE, PASTE_END = "\x1b[200~", "\x1b[201~"
_CODE = re.compile(r"\x1b(?:\[[0-9;?<>=]*[a-zA-Z]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Z0-9]|[=>78])")
_ROWS, _COLUMNS = 50, 160


def settle_in(home: Path, project: Path, key: str) -> None:
    """Answer beforehand what the client asks a new person: theme, key, trust in the folder."""
    answers = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [key[-20:]], "rejected": []},
        "projects": {str(project): {"hasTrustDialogAccepted": True}},
    }
    (home / ".claude.json").write_text(json.dumps(answers), encoding="utf-8")


class Terminal:
    """A pseudo-terminal with one command in it; a context manager."""

    def __init__(self, command: list[str], cwd: Path, environment: dict[str, str]) -> None:
        self.command = command
        self.cwd = cwd
        self.environment = environment
        self.printed = bytearray()

    def __enter__(self) -> Terminal:
        self.keys, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
        self.process = subprocess.Popen(
            self.command,
            cwd=self.cwd,
            env=self.environment,
            stdin=inner,
            stdout=inner,
            stderr=inner,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(inner)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(30)
        self.reader.join(5)
        os.close(self.keys)

    def press(self, keys: str) -> None:
        os.write(self.keys, keys.encode())

    def shows(self, text: str) -> bool:
        """Whether this text has been printed; blanks don't count, as the client skips over them."""
        printed = _CODE.sub("", self.printed.decode("utf-8", "replace"))
        return "".join(text.split()) in "".join(printed.split())

    def _read(self) -> None:
        while True:
            try:
                part = os.read(self.keys, 65536)
            except OSError:
                return  # the command has ended
            if not part:
                return
            self.printed += part
