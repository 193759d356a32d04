"""The window: list, pages, machine. It joins the pages and knows the shortcuts; it decides nothing else."""

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QCloseEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QMainWindow, QSplitter, QWidget

from layadesk.domain.chat import Message
from layadesk.domain.errors import ErrorReport
from layadesk.ui.bridge import Bridge
from layadesk.ui.chat.chat_page import ChatPage
from layadesk.ui.chat.expert_list import ExpertList
from layadesk.ui.health.health_page import HealthPage
from layadesk.ui.inside.inside_page import InsidePage
from layadesk.ui.preferences.settings_page import SettingsPage
from layadesk.ui.route.routes_page import RoutesPage
from layadesk.ui.server.server_page import ServerPage
from layadesk.ui.shell.appearance import Appearance
from layadesk.ui.shell.banners import Banners
from layadesk.ui.shell.closing import Closing
from layadesk.ui.shell.list_actions import ListActions
from layadesk.ui.shell.model_ways import ModelWays
from layadesk.ui.shell.navigation_rail import Destination
from layadesk.ui.shell.notices import Notices
from layadesk.ui.shell.pages import Page, Pages
from layadesk.ui.shell.side_bar import SideBar
from layadesk.ui.shell.side_panel import SidePanel
from layadesk.ui.theme.tokens import (
    CENTRE_MIN_WIDTH,
    PANEL_MIN_WIDTH,
    PANEL_WIDTH,
    SIDE_BAR_MIN_WIDTH,
    SIDE_BAR_WIDTH,
    WINDOW_MIN_HEIGHT,
    WINDOW_SIZE,
)
from layadesk.ui.widgets.icon_button import IconButton
from layadesk.ui.widgets.toast import Toast

if TYPE_CHECKING:
    from layadesk.usecases.bundle import UseCases


class MainWindow(QMainWindow):
    """Signals:
    painted: the window has been drawn for the first time; heavy things may start now.
    """

    painted = Signal()

    def __init__(self, use_cases: "UseCases", *, bridge: Bridge, appearance: Appearance) -> None:
        super().__init__()
        self._use_cases = use_cases
        self._bridge = bridge
        self._appearance = appearance
        self._is_painted = False
        self._wanted_message = ""  # to be scrolled to when its conversation is there
        self._experts = ExpertList(
            use_cases.experts, use_cases.workers, use_cases.remotes, use_cases.settings, bridge=bridge, parent=self
        )
        self.side_bar = SideBar(appearance, use_cases.about)
        self.list = self.side_bar.conversations
        self.page = ChatPage(use_cases, bridge=bridge, experts=self._experts, parent=self)
        self.panel = SidePanel(use_cases, self._experts, bridge=bridge)
        self.panel_button = IconButton("panel")
        self.panel_button.setObjectName("panel-toggle")
        self.panel_button.setCheckable(True)
        self._banners = Banners(use_cases, name_of=self._experts.name_of, bridge=bridge)
        self.failure = self._banners.failure
        self.pages = Pages(self._banners.all, [self.panel_button])
        self.add_page(Destination.CHAT, self.page)
        self.models = ModelWays(use_cases, bridge=bridge, chat=self.page, window=self)
        self.add_page(Destination.MODELS, self.models.page)
        self.add_page(Destination.HEALTH, HealthPage(use_cases.diagnose, bridge=bridge))
        self.add_page(
            Destination.SERVER,
            ServerPage(use_cases.serve, use_cases.settings, name_of=self._experts.name_of, bridge=bridge),
        )
        self.routes_page = RoutesPage(use_cases.route_counts, name_of=self._experts.name_of, bridge=bridge)
        self.add_page(Destination.ROUTES, self.routes_page)
        self.inside_page = self._make_inside()
        self.add_page(Destination.INSIDE, self.inside_page)
        self.settings_page = SettingsPage(
            use_cases.import_settings, use_cases.load_settings, use_cases.remotes, bridge=bridge
        )
        self.add_page(Destination.SETTINGS, self.settings_page)
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        self._lay_out()
        self.toast = Toast(self.pages)
        self._actions = ListActions(use_cases, bridge=bridge, conversations=self.list, toast=self.toast, window=self)
        self.closing = Closing(self)
        self.notices = Notices(use_cases.settings, self)
        self._connect()
        self._add_shortcuts()
        self._retranslate()
        bridge.follow(use_cases.conversations.changed, self._on_conversations_changed)
        self._actions.refresh()
        for problem in (*use_cases.start_problems, *appearance.problems)[:1]:
            self.show_failure(problem)

    def load_charts(self) -> None:
        """Bring in the drawing library; call it when the window is on screen."""
        self.panel.resources.load_charts()

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if not self._is_painted and event.type() in {QEvent.Type.Paint, QEvent.Type.UpdateRequest}:
            self._is_painted = True
            # One turn of the event loop later: then the picture has left for the screen.
            QTimer.singleShot(0, self, self.painted.emit)
        return done

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        self.page.drafts.flush()
        if not self.closing.may_close(len(self.page.live.running)):
            event.ignore()
            return
        self.page.close_threads()
        super().closeEvent(event)

    def add_page(self, destination: Destination, page: Page) -> None:
        """Take a page in, which is a QWidget, and offer it on the left."""
        self.side_bar.rail.offer(destination)
        self.pages.add(destination, page)

    def show_page(self, destination: Destination) -> None:
        """Bring a page to the front. Silent for one that was not added."""
        self.pages.show_page(destination)

    @Slot(str)
    def show_conversation(self, conversation_id: str) -> None:
        """Show a conversation, whatever is shown now."""
        self.show_page(Destination.CHAT)
        self.page.show_conversation(conversation_id)

    @Slot(str, str)
    def show_message(self, conversation_id: str, message_id: str) -> None:
        """Show a conversation at one of its messages."""
        self.show_page(Destination.CHAT)
        self.page.show_message(conversation_id, message_id)

    @Slot()
    def show_new(self) -> None:
        """Begin a conversation, whatever is shown now."""
        self.show_page(Destination.CHAT)
        self.page.show_new()

    def show_failure(self, report: ErrorReport) -> None:
        """Say above the page what did not work and what to do."""
        self.failure.show_report(report)

    def _make_inside(self) -> InsidePage:
        screen_ms = self.page.screen_clock.spent_ms
        return InsidePage(self._use_cases.inside, self._use_cases.time, bridge=self._bridge, screen_ms=screen_ms)

    def _lay_out(self) -> None:
        self.setMinimumHeight(WINDOW_MIN_HEIGHT)
        room = self.screen().availableGeometry()
        self.resize(min(WINDOW_SIZE[0], room.width()), min(WINDOW_SIZE[1], room.height()))
        self.pages.setMinimumWidth(CENTRE_MIN_WIDTH)
        self._splitter.setHandleWidth(1)
        self._splitter.setChildrenCollapsible(False)
        for widget in (self.side_bar, self.pages, self.panel):
            self._splitter.addWidget(widget)
        self._splitter.setStretchFactor(1, 1)
        centre = max(self.width() - SIDE_BAR_WIDTH - PANEL_WIDTH, CENTRE_MIN_WIDTH)
        self._splitter.setSizes([SIDE_BAR_WIDTH, centre, PANEL_WIDTH])
        self.setCentralWidget(self._splitter)
        all_columns = SIDE_BAR_MIN_WIDTH + CENTRE_MIN_WIDTH + PANEL_MIN_WIDTH
        is_open = self._appearance.is_panel_visible and room.width() > all_columns
        self.panel.setVisible(is_open)
        self.panel_button.setChecked(is_open)

    def _connect(self) -> None:
        self.side_bar.rail.chosen.connect(self._on_destination_chosen)
        self.pages.changed.connect(self._on_page_changed)
        self.list.chosen.connect(self.show_conversation)
        self.list.view.activated.connect(self._focus_composer)
        self.list.view.clicked.connect(self._on_conversation_clicked)
        self.list.new_requested.connect(self.show_new)
        self._actions.failed.connect(self.show_failure)
        self._actions.conversation_wanted.connect(self.show_conversation)
        self._actions.message_wanted.connect(self.show_message)
        self._actions.deleted.connect(self._on_deleted)
        self.side_bar.options.import_requested.connect(self._actions.choose_import)
        self.side_bar.options.export_requested.connect(self._actions.choose_export_of_all)
        self.side_bar.options.trash_requested.connect(self._actions.show_trash)
        self.page.answer_ended.connect(self.notices.tell)
        self.settings_page.setting_changed.connect(self.notices.follow)
        self.page.route_requested.connect(self._on_route_requested)
        self.page.shown.connect(self._on_shown)
        self.page.running_changed.connect(self._on_running_changed)
        self.page.last_answer_changed.connect(self.panel.route.show_answer)
        self.page.last_answer_changed.connect(self.panel.resources.follow_answer)
        self.page.last_answer_changed.connect(self.inside_page.show_answer)
        self.panel.inside.opened.connect(partial(self.show_page, Destination.INSIDE))
        self.page.failed.connect(self.show_failure)
        self._banners.update.page_wanted.connect(self.page.link_question.ask)
        self.models.join(self.show_page, self.pages, self.toast, self.failure)
        self.models.failed.connect(self.show_failure)
        self.models.page.focus_changed.connect(self._order_focus)
        self.side_bar.options.add_model_requested.connect(self.models.page.doing.choose_files)
        self.routes_page.chat_requested.connect(self._focus_composer)
        self.inside_page.chat_requested.connect(self._focus_composer)
        self.inside_page.failed.connect(self.show_failure)
        self.settings_page.failed.connect(self.show_failure)
        self.settings_page.remotes.removed.connect(self._on_remote_removed)
        self.settings_page.remotes.rows_changed.connect(self._order_focus)
        self.settings_page.setting_changed.connect(self._appearance.follow)
        self.panel_button.toggled.connect(self._on_panel_toggled)
        self.panel.resources.message_requested.connect(self._on_message_requested)
        self.page.transcript.views_changed.connect(self._order_focus)
        self.page.transcript.place_requested.connect(self._on_place_requested)
        self._on_page_changed(Destination.CHAT)

    def _add_shortcuts(self) -> None:
        for keys, action in (
            (QKeySequence(QKeySequence.StandardKey.New), self.show_new),
            (QKeySequence(Qt.Key.Key_Escape), self.page.stop),
            (QKeySequence("Ctrl+PgUp"), partial(self._step, -1)),
            (QKeySequence("Ctrl+PgDown"), partial(self._step, 1)),
            (QKeySequence("Ctrl+L"), self._focus_composer),
            (QKeySequence(QKeySequence.StandardKey.Find), self.list.search.setFocus),
            (QKeySequence("Ctrl+End"), self.page.transcript.go_to_end),
            (QKeySequence("Ctrl+Q"), self.close),
            (QKeySequence("F9"), self.panel_button.toggle),
            (QKeySequence("Ctrl+T"), self.panel.resources.point_at_answer),
        ):
            QShortcut(keys, self).activated.connect(action)
        for place in range(len(Destination)):
            QShortcut(QKeySequence(f"Ctrl+{place + 1}"), self).activated.connect(partial(self._go_to, place))

    @Slot(str)
    def _on_destination_chosen(self, name: str) -> None:
        self.show_page(Destination(name))

    @Slot(str, object)
    def _on_remote_removed(self, said: str, undo: object) -> None:
        assert callable(undo)
        self.toast.show_message(said, self.tr("Undo"), undo=undo)

    @Slot(str)
    def _on_page_changed(self, name: str) -> None:
        self.side_bar.rail.show_current(Destination(name))
        self._order_focus()

    @Slot()
    def _on_conversation_clicked(self) -> None:
        self.show_page(Destination.CHAT)  # the list itself is silent when the row was marked already

    @Slot(str, str)
    def _on_message_requested(self, conversation_id: str, message_id: str) -> None:
        is_shown = conversation_id == self.page.conversation.conversation_id
        self._wanted_message = "" if is_shown else message_id
        self.show_conversation(conversation_id)
        if is_shown:
            self.page.transcript.show_message(message_id)

    @Slot(str)
    def _on_place_requested(self, message_id: str) -> None:
        self.panel_button.setChecked(True)
        self.panel.resources.point_at(message_id)

    def _go_to(self, place: int) -> None:
        offered = self.side_bar.rail.destinations()
        if place < len(offered):
            self.show_page(offered[place])

    @Slot()
    def _focus_composer(self) -> None:
        self.show_page(Destination.CHAT)
        self.page.composer.focus_text()

    @Slot()
    def _order_focus(self) -> None:
        """The Tab key goes from left to right and from top to bottom."""
        stops: list[QWidget] = [*self.side_bar.rail.focus_chain(), *self.list.focus_chain()]
        stops += [self.side_bar.options, *self._banners.focus_chain()]
        stops += [*self.pages.focus_chain(), *self.panel.resources.focus_chain()]
        for before, after in pairwise(stops):
            QWidget.setTabOrder(before, after)

    def _retranslate(self) -> None:
        self.setWindowTitle("LayaDesk")
        self.panel_button.set_name(self.tr("Machine and route"), "F9")
        self.panel.setAccessibleName(self.tr("Machine and route"))

    def _step(self, step: int) -> None:
        wanted = self.list.neighbour(self.page.conversation.conversation_id, step)
        if wanted is not None:
            self.show_conversation(wanted)

    @Slot(str)
    def _on_conversations_changed(self, conversation_id: str) -> None:
        self.list.show_current(self.page.conversation.conversation_id)
        if conversation_id in {"", self.page.conversation.conversation_id}:
            self.page.refresh()

    @Slot(str)
    def _on_shown(self, conversation_id: str) -> None:
        self.failure.hide()
        self._actions.refresh()
        self.list.show_current(conversation_id)
        wanted, self._wanted_message = self._wanted_message, ""
        if wanted:
            QTimer.singleShot(0, self, partial(self.page.transcript.show_message, wanted))

    @Slot(str)
    def _on_deleted(self, conversation_id: str) -> None:
        if conversation_id == self.page.conversation.conversation_id:
            beside = self.list.neighbour(conversation_id, 1) or self.list.neighbour(conversation_id, -1)
            if beside is None:
                self.show_new()
            else:
                self.show_conversation(beside)

    @Slot(object)
    def _on_route_requested(self, answer: Message) -> None:
        self.panel_button.setChecked(True)
        self.panel.route.show_answer(answer)

    @Slot()
    def _on_running_changed(self) -> None:
        self.list.model.set_running(self.page.live.running_conversations())

    @Slot(bool)
    def _on_panel_toggled(self, is_open: bool) -> None:
        self.panel.setVisible(is_open)
        self._appearance.keep_panel_visible(is_open)
