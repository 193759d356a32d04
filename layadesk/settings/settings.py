"""The settings in force: read at use, never copied into constants."""

import logging
import threading
from collections.abc import Callable
from typing import Any, TypeVar, overload

from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError, fail
from layadesk.paths import DataPaths
from layadesk.protocol.feed import Feed
from layadesk.settings.definitions import ALL_SETTINGS, Setting, SettingValue
from layadesk.settings.file import SettingsFile, load, save

log = logging.getLogger(__name__)

ValueT = TypeVar("ValueT", bound=SettingValue)


class Settings:
    """Values of one data directory's settings file. Any thread.

    A change holds at once; the file is written behind it, so that no caller waits for the disk. Where the file cannot
    be written the change holds in memory until the end of the program, and `problem_feed` tells.
    """

    def __init__(self, paths: DataPaths) -> None:
        """Reads the file; never raises for what is in it, see `problems`."""
        self._path = paths.settings
        self._by_key: dict[str, Setting[Any]] = {setting.key: setting for setting in ALL_SETTINGS}
        found = load(self._path)
        self._strangers, self._frame = found.strangers, found.frame
        self._values: dict[str, SettingValue] = dict(found.values)
        self._problems = found.problems
        self._save_problem: ErrorReport | None = None
        self._feeds: dict[str, Feed[SettingValue]] = {key: Feed() for key in self._by_key}
        self.problem_feed: Feed[ErrorReport] = Feed()
        self._changing = threading.RLock()  # changes are told in the order they are made
        self._lock = threading.Lock()
        self._must_save = False
        self._saver: threading.Thread | None = None

    @property
    def problems(self) -> tuple[ErrorReport, ...]:
        """What was wrong with the file at the start, and why it could not be written the last time, if so."""
        with self._lock:
            return self._problems if self._save_problem is None else (*self._problems, self._save_problem)

    @overload
    def get(self, setting: Setting[ValueT]) -> ValueT: ...
    @overload
    def get(self, setting: str) -> SettingValue: ...
    def get(self, setting: Setting[Any] | str) -> SettingValue:
        """The value in force. Raises BAD_SETTING for an unknown key."""
        known = self._known(setting)
        with self._lock:
            return self._values.get(known.key, known.default)  # type: ignore[no-any-return]  # Setting[Any].default

    def set(self, setting: Setting[Any] | str, value: object) -> None:
        """Change a value and tell its subscribers, on this thread. Raises BAD_SETTING and changes nothing then."""
        known = self._known(setting)
        self._change(known, known.check(value))

    def reset(self, setting: Setting[Any] | str) -> None:
        """Back to the default. Raises BAD_SETTING for an unknown key."""
        known = self._known(setting)
        self._change(known, known.default)

    def subscribe(self, setting: Setting[Any] | str, callback: Callable[[Any], None]) -> Callable[[], None]:
        """Call `callback` with each new value; returns what ends the subscription. Raises BAD_SETTING."""
        return self._feeds[self._known(setting).key].subscribe(callback)

    def flush(self) -> None:
        """Wait until all changes so far are in the file, or could not be written."""
        with self._lock:
            saver = self._saver
        if saver is not None:
            saver.join()

    def _known(self, setting: Setting[Any] | str) -> Setting[Any]:
        key = setting if isinstance(setting, str) else setting.key
        if key not in self._by_key:
            raise fail(ErrorCode.BAD_SETTING, key=key, value=None, type="unknown")
        return self._by_key[key]

    def _change(self, setting: Setting[Any], value: SettingValue) -> None:
        """What is at its default is not kept, so that it follows a default that a later version changes."""
        with self._changing:
            before = self.get(setting)
            if value == before:
                return
            with self._lock:
                self._values[setting.key] = value
                if value == setting.default:
                    del self._values[setting.key]
                self._save_soon()
            self._feeds[setting.key].publish(value)

    def _save_soon(self) -> None:
        """Called with the lock held. The thread is no daemon: the program's end waits for the last save."""
        self._must_save = True
        if self._saver is None:
            self._saver = threading.Thread(target=self._save_all, name="settings")
            self._saver.start()

    def _save_all(self) -> None:
        """The thread "settings": saves until nothing is new."""
        while True:
            with self._lock:
                if not self._must_save:
                    self._saver = None
                    return
                self._must_save = False
                content = SettingsFile(dict(self._values), self._strangers, self._frame)
            try:
                save(self._path, content)
            except LayaDeskError as error:
                self._tell(error)
            else:
                with self._lock:
                    self._save_problem = None

    def _tell(self, error: LayaDeskError) -> None:
        with self._lock:
            is_new = error.report != self._save_problem
            self._save_problem = error.report
        if is_new:
            log.warning("settings hold until the end of the program only: %s", error)
            self.problem_feed.publish(error.report)
