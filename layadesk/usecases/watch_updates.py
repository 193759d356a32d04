"""Is there a newer version? Asked once a day, of the address in the settings, and only while the user has it on."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import msgspec
from packaging.version import InvalidVersion, Version

from layadesk import __version__
from layadesk.domain.errors import LayaDeskError
from layadesk.domain.releases import Release
from layadesk.domain.remote import host_of
from layadesk.model_library.release_feed import newest_release
from layadesk.model_library.web import Stop, Stopped
from layadesk.protocol.feed import Feed
from layadesk.settings import definitions
from layadesk.settings.settings import Settings
from layadesk.usecases.update_file import Asked, UpdateFile

log = logging.getLogger(__name__)

DAY_S = 24 * 3600.0
_LOOK_S = 3600.0  # a machine that sleeps stops the clock of a waiting thread, and not that of the calendar
_END_S = 2.0


@dataclass(frozen=True, slots=True)
class UpdateNotice:
    """A version newer than this one, `host` that said so, and the page that tells more, or nothing."""

    version: str
    page: str
    host: str
    running: str = __version__


class WatchUpdates:
    """Nothing runs and nobody is asked while it is off.

    Callbacks of `feed` come on the thread "updates", or on that which changes a setting.
    """

    def __init__(
        self,
        settings: Settings,
        file: UpdateFile,
        *,
        ask: Callable[[str, str, Stop], Release | None] = newest_release,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._file = file
        self._ask = ask
        self._now = now
        self._lock = threading.Lock()
        self._news = threading.Event()
        self._thread: threading.Thread | None = None
        self._stop = Stop()
        self._is_closed = False
        self._asked: Asked | None = None
        self._must_save = False
        self._unsubscribe: list[Callable[[], None]] = []
        self.feed: Feed[UpdateNotice | None] = Feed()

    def start(self) -> None:
        """Follow the settings from now on; returns at once."""
        for setting in (definitions.UPDATE_NOTICE, definitions.UPDATE_FEED):
            self._unsubscribe.append(self._settings.subscribe(setting, self._on_setting))
        self._wake()

    def close(self) -> None:
        """Ask no more; what is under way is broken off."""
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        with self._lock:
            self._is_closed = True
            thread = self._thread
            self._stop.set()
            self._news.set()
        if thread is not None:
            thread.join(_END_S)

    def asked(self) -> Asked | None:
        """What came of asking last, also in an earlier run; None while nobody may be asked."""
        address = self._address()
        if not address:
            return None
        asked = self._record()
        return asked if asked.address == address else Asked()

    @property
    def notice(self) -> UpdateNotice | None:
        """What there is to tell; nothing while it is off, and nothing a second time that was dismissed."""
        asked = self.asked()
        if asked is None or not _is_newer(asked.version) or asked.version == asked.dismissed:
            return None
        return UpdateNotice(asked.version, asked.page, asked.host)

    def dismiss(self, version: str) -> None:
        """Do not tell of this version again."""
        self._keep(msgspec.structs.replace(self._record(), dismissed=version))
        self._news.set()

    def _address(self) -> str:
        is_on = self._settings.get(definitions.UPDATE_NOTICE)
        return self._settings.get(definitions.UPDATE_FEED).strip() if is_on else ""

    def _record(self) -> Asked:
        with self._lock:
            if self._asked is None:
                self._asked = self._file.read()
            return self._asked

    def _keep(self, asked: Asked) -> None:
        with self._lock:
            self._asked = asked
            self._must_save = True

    def _save(self) -> str:
        """On the thread "updates" alone; returns why it could not be done, else nothing."""
        with self._lock:
            asked, must = self._asked, self._must_save
            self._must_save = False
        return self._file.write(asked) if must and asked is not None else ""

    def _on_setting(self, _: object) -> None:
        self._wake()
        self.feed.publish(self.notice)

    def _wake(self) -> None:
        with self._lock:
            self._news.set()
            if not self._address():
                self._stop.set()
            elif self._thread is None and not self._is_closed:
                self._thread = threading.Thread(target=self._run, name="updates", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while True:
            self._news.clear()
            self._save()
            with self._lock:
                address = "" if self._is_closed else self._address()
                if not address:
                    self._thread = None
                    return
                self._stop = stop = Stop()
            wait_s = self._wait_s(address)
            if wait_s > 0:
                self._news.wait(min(wait_s, _LOOK_S))
            else:
                self._ask_now(address, stop)

    def _wait_s(self, address: str) -> float:
        """Until it may be asked again. A time in the future is that of a clock that was wrong."""
        asked, now = self._record(), self._now()
        if asked.address != address or asked.at > now:
            return 0.0
        return asked.at + DAY_S - now

    def _ask_now(self, address: str, stop: Stop) -> None:
        """Noted before it is done, and not done where that fails: so it is once a day, whatever becomes of it."""
        known = self._record()
        before = known if known.address == address else Asked()
        begun = msgspec.structs.replace(
            before, address=address, host=host_of(address), at=self._now(), problem="no answer"
        )
        self._keep_result(begun)
        problem = self._save()
        if problem:
            problem = f"not asked, as that could not be noted: {problem}"
        else:
            try:
                begun = self._found(begun, stop)
            except Stopped:
                return
            except LayaDeskError as error:
                problem = str(error.report.facts.get("reason") or error.report.code)
        if problem:
            log.info("new versions, from %s: %s", begun.host, problem)
        self._keep_result(msgspec.structs.replace(begun, problem=problem))
        self._save()
        self.feed.publish(self.notice)

    def _found(self, begun: Asked, stop: Stop) -> Asked:
        release = self._ask(begun.address, self._settings.get(definitions.DOWNLOAD_PROXY), stop)
        version, page = ("", "") if release is None else (release.version, release.page)
        log.info("new versions, from %s: %s", begun.host, version or "none")
        return msgspec.structs.replace(begun, version=version, page=page)

    def _keep_result(self, asked: Asked) -> None:
        self._keep(msgspec.structs.replace(asked, dismissed=self._record().dismissed))


def _is_newer(version: str) -> bool:
    try:
        return bool(version) and Version(version) > Version(__version__)
    except InvalidVersion:  # a file that somebody has edited
        return False
