"""Follows the library: what changed can be found at once, the pages made from it follow later."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from ultan.library import config as configuration
from ultan.library.config import Config
from ultan.library.errors import ConfigError
from ultan.service.answers import Recaller
from ultan.service.pages import Pages
from ultan.service.schedule import Job, Worker
from ultan.service.watcher import Watcher
from ultan.wire import remember
from ultan.wire.home import Home

# A change is taken over when nothing more changed for so long, or at the latest after the longer time.
QUIET_SECONDS = 0.15
MOST_SECONDS = 0.6
SAVE_SECONDS = 5.0
# Without help from the system, changes are looked for this often.
SCAN_SECONDS = 2.0
EMBED_SECONDS = 1.0
# While a whole library is embedded, what is done so far is kept this often.
KEEP_SECONDS = 15.0

_Signature = tuple[int, int, int] | None


class Keeper:
    """Follows one library for one engine. Its jobs run in one worker; `changed` is for any thread."""

    def __init__(
        self,
        home: Home,
        engine: Recaller,
        pages: Pages,
        config: Config,
        say: Callable[[str], object],
        trouble: Callable[[str, Exception], object],
        leave: Callable[[str], object],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.home = home
        self.engine = engine
        self.config = config
        self.config_error = ""
        self.pages = pages
        self.say = say
        self.leave = leave
        self.clock = clock
        self.watcher = Watcher(home.knowledge, self.changed, trouble)
        self._first_change: float | None = None
        self._config_seen = self._settings()
        self.worker: Worker | None = None

    def jobs(self) -> list[Job]:
        """What is to be done regularly."""
        return [
            Job("library", SCAN_SECONDS, self.follow),
            Job("embed", float("inf"), self.embed, due=0.0),
            Job("save", float("inf"), self.save, due=float("inf")),
            Job("config", 1.0, self.check_config),
            Job("waiting", 10.0, self.save_waiting),
        ]

    def changed(self) -> None:
        """Something below knowledge/ changed: look soon, but let what belongs together arrive first."""
        worker = self.worker
        if worker is None:
            return
        now = worker.clock()
        if self._first_change is None:
            self._first_change = now
        worker.at("library", min(now + QUIET_SECONDS, self._first_change + MOST_SECONDS), later=True)

    def follow(self) -> None:
        """Take over what changed in the library, so that it is found from now on."""
        self._first_change = None
        if self.watcher.check() == "events":
            self._later("library", float(self.config.service.scan_seconds))
        changed = self.engine.refresh(embed=False)
        if changed:
            self._later("embed", 0.0)
            self._later("save", SAVE_SECONDS)
        self.pages.look(changed)

    def embed(self) -> bool:
        """Compute a few of the missing vectors; True while there are more."""
        if not self.engine.pending:
            return False
        before = self.engine.pending
        left = self.engine.embed_pending(EMBED_SECONDS)
        if self.worker is not None:
            self.worker.at("save", self.worker.clock() + (KEEP_SECONDS if left else 0.0))
        return 0 < left < before

    def save(self) -> None:
        """Keep the index for the next start."""
        if not self.pages.read_only:
            self.engine.save()

    def check_config(self) -> None:
        """Take over a changed config.toml; make again what the hooks read of it where that was lost."""
        look = self._settings()
        if look == self._config_seen:
            return
        self._config_seen = look
        try:
            config = configuration.load(self.home)
        except ConfigError as error:
            self.config_error = str(error)
            self.say(str(error))
            return
        self.config_error = ""
        if self.pages.read_only:
            return
        configuration.derive_hook_config(self.home, config)
        self._config_seen = look[0], _signature(self.home.hook_config)
        if config.text == self.config.text:
            return
        old, self.config = self.config, config
        self.say("config.toml changed")
        if config.daemon == "off":
            self.leave("turned off")
        elif (config.models, config.auth) != (old.models, old.auth):
            self.leave("other models or another way to reach them were chosen")
        else:
            self.engine.configure(config)

    def save_waiting(self) -> None:
        """Save what the person said while the library could not be written."""
        if self.pages.read_only or not os.path.isdir(os.path.join(self.home.spool, "remember")):
            return
        if remember.save_waiting(self.home, self.clock()):
            self.changed()

    def _settings(self) -> tuple[_Signature, _Signature]:
        return _signature(self.home.config), _signature(self.home.hook_config)

    def _later(self, name: str, seconds: float) -> None:
        if self.worker is not None:
            self.worker.at(name, self.worker.clock() + seconds, later=True)


def _signature(path: str) -> _Signature:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
