"""The Server page: a switch, the address, the key, what to paste where, and what was asked."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Slot
from PySide6.QtGui import QGuiApplication, QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPushButton,
    QTableView,
    QWidget,
)

from layadesk.domain.errors import ErrorReport
from layadesk.domain.server import KeyHash, ServedRequest, ServerState, ServerStatus, is_loopback
from layadesk.settings import definitions
from layadesk.ui.bridge import Bridge
from layadesk.ui.server.request_log import RequestLog
from layadesk.ui.server.snippet_box import SnippetBox
from layadesk.ui.server.snippets import snippets
from layadesk.ui.texts.errors import sentence
from layadesk.ui.theme.fonts import strong_font
from layadesk.ui.theme.tokens import GAP_M, GAP_S, Ink
from layadesk.ui.widgets.icon_button import IconButton
from layadesk.ui.widgets.page_header import PageHeader
from layadesk.ui.widgets.reading_area import ReadingArea
from layadesk.ui.widgets.roles import note, set_look

if TYPE_CHECKING:
    from layadesk.settings.settings import Settings
    from layadesk.usecases.serve import Serve

LOG_HEIGHT = 240


class ServerPage(QWidget):
    """Says itself what went wrong, since that stays true until something is changed here."""

    def __init__(
        self,
        serve: "Serve",
        settings: "Settings",
        *,
        name_of: Callable[[str], str],
        bridge: Bridge,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._serve = serve
        self._settings = settings
        self._bridge = bridge
        self._status = serve.status
        self._key: KeyHash | None = None
        self.header = PageHeader()
        self.switch = _button("server-switch", self._on_switch)
        self.header.add_button(self.switch)
        self.told = QLabel()
        self.told.setObjectName("server-told")
        self.told.setWordWrap(True)
        self.other_port = _button("server-other-port", self._on_other_port)
        self.address = _shown_line("server-address")
        self.copy_address = IconButton("copy")
        self.copy_address.clicked.connect(self._on_copy_address)
        self.key_told = note()
        self.new_key = _button("server-new-key", self._on_new_key)
        self.forget_key = _button("server-forget-key", self._on_forget_key)
        self.made_key = _shown_line("server-made-key")
        self.copy_key = IconButton("copy")
        self.copy_key.clicked.connect(self._on_copy_key)
        self.snippets = SnippetBox()
        self.log = RequestLog(name_of, self)
        self.table = _table(self.log)
        self.log_told = note()
        self._headings = tuple(_heading() for _ in range(4))
        self._area = ReadingArea(spacing=GAP_S)
        self._lay_out()
        self._show_key_row(is_shown=False)
        bridge.follow(serve.status_feed, self._on_status)
        bridge.follow(serve.log_feed, self._on_served)
        self._retranslate()

    def focus_chain(self) -> list[QWidget]:
        """For the Tab key."""
        keys = [self.new_key, self.forget_key, self.made_key, self.copy_key]
        ways = [self.other_port, self.address, self.copy_address]
        return [self.switch, *ways, *keys, *self.snippets.stops(), self.table]

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.log.show_requests(self._serve.requests())
        self._on_status(self._serve.status)
        self._look_at_key()

    def hideEvent(self, event: QHideEvent) -> None:
        if not event.spontaneous():  # another page; a window that is only put away still shows the key
            self._show_key_row(is_shown=False)
        super().hideEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    def _lay_out(self) -> None:
        column = self._area.column
        for widget in (self.told, self.other_port):
            column.addWidget(widget)
        address, key, paste, asked = self._headings
        column.addWidget(address)
        column.addLayout(_row(self.address, self.copy_address))
        column.addWidget(key)
        column.addWidget(self.key_told)
        column.addLayout(_row(self.made_key, self.copy_key))
        buttons = _row(self.new_key, self.forget_key)
        buttons.addStretch(1)
        column.addLayout(buttons)
        column.addWidget(paste)
        column.addWidget(self.snippets)
        column.addWidget(asked)
        column.addWidget(self.log_told)
        column.addWidget(self.table)
        column.addStretch(1)
        self.header.stand_on(self, self._area)

    @Slot()
    def _on_switch(self) -> None:
        is_on = self._status.state in (ServerState.ON, ServerState.STARTING)
        self.switch.setEnabled(False)
        self._bridge.deliver(self._serve.switch(on=not is_on), self._on_status, on_error=self._on_failed)

    @Slot()
    def _on_other_port(self) -> None:
        port = self._free_port()
        if port is not None:
            self._settings.set(definitions.SERVER_PORT, port)
            self._on_switch()

    @Slot()
    def _on_new_key(self) -> None:
        self._bridge.deliver(self._serve.make_key(), self._on_made_key, on_error=self._on_failed)

    @Slot()
    def _on_forget_key(self) -> None:
        self._show_key_row(is_shown=False)
        self._bridge.deliver(self._serve.drop_key(), self._on_key, on_error=self._on_failed)

    @Slot()
    def _on_copy_address(self) -> None:
        QGuiApplication.clipboard().setText(self.address.text())

    @Slot()
    def _on_copy_key(self) -> None:
        QGuiApplication.clipboard().setText(self.made_key.text())

    def _look_at_key(self) -> None:
        self._bridge.deliver(self._serve.look_at_key(), self._on_key, on_error=self._on_failed)

    def _on_key(self, key: KeyHash | None) -> None:
        self._key = key
        self._retranslate()

    def _on_made_key(self, key: str) -> None:
        """Shown until the page is left or another one is made; nobody can read it again."""
        self.made_key.setText(key)
        self._show_key_row(is_shown=True)
        self._look_at_key()

    def _show_key_row(self, *, is_shown: bool) -> None:
        if not is_shown:
            self.made_key.clear()
        self.made_key.setVisible(is_shown)
        self.copy_key.setVisible(is_shown)

    def _on_status(self, status: ServerStatus) -> None:
        self._status = status
        self.switch.setEnabled(status.state is not ServerState.STARTING)
        self._retranslate()

    def _on_served(self, request: ServedRequest) -> None:
        if self.isVisible():
            self.log.add(request)
            self._retranslate_log()
            header = self.table.horizontalHeader()
            header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)  # it does not hear of new rows itself

    def _on_failed(self, report: ErrorReport) -> None:
        self.switch.setEnabled(True)
        self._say(sentence(report), is_wrong=True)

    def _say(self, text: str, *, is_wrong: bool) -> None:
        set_look(self.told, "ink", (Ink.DANGER if is_wrong else Ink.TEXT).value)
        self.told.setText(text)

    def _free_port(self) -> int | None:
        error = self._status.error
        port = None if error is None else error.facts.get("free_port")
        return port if isinstance(port, int) else None

    def _status_words(self) -> str:
        status = self._status
        match status.state:
            case ServerState.ON if is_loopback(status.host):
                return self.tr("It is on. Programs on this machine can ask.")
            case ServerState.ON:
                return self.tr("It is on, and not encrypted. Programs on other machines can ask with the key.")
            case ServerState.STARTING:
                return self.tr("It is being switched on…")
            case ServerState.FAILED if status.error is not None:
                return sentence(status.error)
            case _:
                return self.tr("It is off. Switched on, other programs can ask here as they would ask OpenAI.")

    def _retranslate(self) -> None:
        status = self._status
        is_on = status.state in (ServerState.ON, ServerState.STARTING)
        self.header.title.set_text(self.tr("Server"))
        self._say(self._status_words(), is_wrong=status.state is ServerState.FAILED)
        port = self._free_port()
        self.other_port.setVisible(port is not None)
        for button, text in (
            (self.switch, self.tr("Switch off") if is_on else self.tr("Switch on")),
            (self.other_port, self.tr("Use port {port}").format(port=port)),
            (self.new_key, self.tr("Make a new key")),
            (self.forget_key, self.tr("Ask for no key")),
        ):
            button.setText(text)
            button.setAccessibleName(text)
        titles = (self.tr("Address"), self.tr("API key"), self.tr("To paste"), self.tr("What was asked"))
        for heading, title in zip(self._headings, titles, strict=True):
            heading.setText(title)
        self.address.setText(status.base_url)
        self.address.setAccessibleName(self.tr("Address for other programs"))
        self.copy_address.set_name(self.tr("Copy the address"))
        self.made_key.setAccessibleName(self.tr("New API key, shown only now"))
        self.copy_key.set_name(self.tr("Copy the key"))
        self.forget_key.setEnabled(self._key is not None)
        self.key_told.setText(self._key_words())
        self.snippets.show_snippets(snippets(status.base_url, needs_key=self._key is not None))
        self.table.setAccessibleName(self.tr("What was asked"))
        self._retranslate_log()

    def _key_words(self) -> str:
        if not self.made_key.isHidden():
            return self.tr(
                "Copy the key now: it is kept as a hash only and cannot be shown again. The code below reads it from "
                "the variable LAYADESK_API_KEY."
            )
        if self._key is None:
            return self.tr("No key is asked for. Other addresses than this machine's own need one.")
        return self.tr(
            "Programs have to send the key that ends in {tail}. The code below reads it from the variable "
            "LAYADESK_API_KEY."
        ).format(tail=self._key.tail or "?")

    def _retranslate_log(self) -> None:
        is_empty = self.log.rowCount() == 0
        self.table.setVisible(not is_empty)
        self.log_told.setText(
            self.tr("Nothing yet. Each request stands here with its expert, tokens and time; never what was said.")
            if is_empty
            else self.tr("Since the start of the program, the newest first; never what was said.")
        )


def _button(name: str, act: Callable[[], None]) -> QPushButton:
    button = QPushButton()
    button.setObjectName(name)
    button.clicked.connect(act)
    return button


def _shown_line(name: str) -> QLineEdit:
    line = QLineEdit()
    line.setObjectName(name)
    line.setReadOnly(True)
    return line


def _heading() -> QLabel:
    heading = QLabel()
    heading.setFont(strong_font())
    heading.setContentsMargins(0, GAP_M, 0, 0)
    return heading


def _row(*widgets: QWidget) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(GAP_S)
    for widget in widgets:
        row.addWidget(widget)
    return row


def _table(log: RequestLog) -> QTableView:
    table = QTableView()
    table.setObjectName("server-log")
    table.setModel(log)
    table.setFixedHeight(LOG_HEIGHT)
    table.setShowGrid(False)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setTabKeyNavigation(False)
    table.verticalHeader().hide()
    table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    table.horizontalHeader().setStretchLastSection(True)
    return table
