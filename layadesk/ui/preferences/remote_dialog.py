"""Enter or change an expert that runs elsewhere: address, model, key, what it is good at; test it first."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QCompleter,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from layadesk.domain.errors import ErrorReport, LayaDeskError
from layadesk.domain.remote import EndpointRemark, EndpointTest, RemoteExpert, checked_url, host_of, remarks_on
from layadesk.domain.strengths import Strengths
from layadesk.ui.bridge import Bridge
from layadesk.ui.texts.errors import sentence
from layadesk.ui.texts.numbers import seconds
from layadesk.ui.texts.remote import key_place, remark, where_to
from layadesk.ui.texts.words import together
from layadesk.ui.theme.tokens import GAP_M, GAP_S, Ink
from layadesk.ui.widgets.roles import note, set_look
from layadesk.usecases.remote_experts import RemoteEntry, RemoteExperts, Saved, strengths_of

WIDTH = 520
_GOOD = 0.8


class RemoteDialog(QDialog):
    """Signals:
    kept: in words, what was kept and where its key is.
    """

    kept = Signal(str)

    def __init__(self, remotes: RemoteExperts, expert: RemoteExpert | None, *, bridge: Bridge, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Add a remote expert") if expert is None else self.tr("Change a remote expert"))
        self.setMinimumWidth(WIDTH)
        self._remotes = remotes
        self._expert = expert
        self._bridge = bridge
        self.url = QLineEdit()
        self.url.setPlaceholderText("https://api.example.com/v1")
        self.model = QLineEdit()
        self.name = QLineEdit()
        self.name.setPlaceholderText(self.tr("As the model"))
        self.key = QLineEdit()
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.context = QSpinBox()
        self.context.setRange(0, 10_000_000)
        self.context.setSingleStep(1024)
        self.context.setSpecialValueText(self.tr("not known"))
        self.languages = QLineEdit()
        self.languages.setPlaceholderText(self.tr("Any; for instance: en, zh"))
        self.good_at = QLineEdit()
        self.good_at.setPlaceholderText(self.tr("Guessed from its name; for instance: code, math"))
        self.cost = QComboBox()
        costs = ((self.tr("Guessed"), None), (self.tr("Low"), 0.1), (self.tr("Middling"), 0.5), (self.tr("High"), 0.9))
        for word, value in costs:
            self.cost.addItem(word, value)
        self.remark = note()
        self.remark.setObjectName("remote-remark")
        self.told = note()
        self.told.setObjectName("remote-told")
        self._lay_out()
        if expert is not None:
            self._show(expert)
        self._said = self._strength_fields()
        self.url.textChanged.connect(self._on_url_changed)
        self._on_url_changed()

    def entry(self) -> RemoteEntry:
        """What the fields say. Raises BAD_PARAMETER."""
        return RemoteEntry(
            self.url.text(), self.model.text(), self.name.text(), self.context.value() or None, self._strengths()
        )

    @Slot()
    def test(self) -> None:
        """Ask the server."""
        self._say(self.tr("Asking…"))
        self.test_button.setEnabled(False)
        try:
            model_id = None if self._expert is None else self._expert.model_id
            found = self._remotes.test(self.entry(), self._typed_key(), model_id=model_id)
        except LayaDeskError as error:
            self._on_failed(error.report)
            return
        self._bridge.deliver(found, self._on_tested, on_error=self._on_failed)

    @Slot()
    def keep(self) -> None:
        """Keep it, and close when that has worked."""
        try:
            entry = self.entry()
        except LayaDeskError as error:
            self._on_failed(error.report)
            return
        self.keep_button.setEnabled(False)
        if self._expert is None:
            saved = self._remotes.add(entry, self.key.text())
        else:
            saved = self._remotes.change(self._expert.model_id, entry, self._typed_key())
        self._bridge.deliver(saved, self._on_saved, on_error=self._on_failed)

    def _typed_key(self) -> str | None:
        """None: the one that is kept stays."""
        return self.key.text() if self._expert is None or self.key.isModified() else None

    def _strengths(self) -> Strengths | None:
        """What is finer than these fields can say stays as long as they are not touched."""
        if self._expert is not None and self._strength_fields() == self._said:
            return self._expert.strengths
        return strengths_of(self.good_at.text(), self.languages.text(), self.cost.currentData())

    def _strength_fields(self) -> tuple[str, str, object]:
        return self.good_at.text(), self.languages.text(), self.cost.currentData()

    def _show(self, expert: RemoteExpert) -> None:
        self.url.setText(expert.base_url)
        self.model.setText(expert.model)
        self.name.setText("" if expert.name == expert.model else expert.name)
        self.context.setValue(expert.n_ctx or 0)
        self.key.setPlaceholderText(self.tr("As it is; a key stays with its server only"))
        if expert.strengths is not None:
            good = [task for task, share in expert.strengths.tasks.items() if share >= _GOOD]
            self.good_at.setText(", ".join(good))
            self.languages.setText(", ".join(expert.strengths.languages))

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setSpacing(GAP_S)
        fields: tuple[tuple[str, str, QWidget], ...] = (
            (self.tr("Address"), "url", self.url),
            (self.tr("Model"), "model", self.model),
            (self.tr("API key"), "key", self.key),
            (self.tr("Name here"), "name", self.name),
            (self.tr("Context, tokens"), "context", self.context),
            (self.tr("Languages"), "languages", self.languages),
            (self.tr("Good at"), "good-at", self.good_at),
            (self.tr("Cost of an answer"), "cost", self.cost),
        )
        for title, key, field in fields:
            field.setObjectName(f"remote-{key}")
            field.setAccessibleName(title)
            form.addRow(title, field)
        buttons = QDialogButtonBox()
        self.test_button: QPushButton = buttons.addButton(
            self.tr("Test connection"), QDialogButtonBox.ButtonRole.ActionRole
        )
        self.keep_button: QPushButton = buttons.addButton(self.tr("Keep"), QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.addButton(self.tr("Cancel"), QDialogButtonBox.ButtonRole.RejectRole)
        self.test_button.clicked.connect(self.test)
        buttons.accepted.connect(self.keep)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(GAP_M, GAP_M, GAP_M, GAP_M)
        layout.setSpacing(GAP_S)
        layout.addLayout(form)
        layout.addWidget(self.remark)
        layout.addWidget(self.told)
        layout.addStretch(1)
        layout.addWidget(buttons)

    @Slot()
    def _on_url_changed(self) -> None:
        """Before anything is sent: where it would go, and what is to be known of that."""
        try:
            url = checked_url(self.url.text())
        except LayaDeskError as error:
            self.remark.setText(sentence(error.report) if self.url.text().strip() else "")
            return
        remarks = remarks_on(url)
        is_warned = EndpointRemark.PLAIN_HTTP in remarks
        set_look(self.remark, "ink", Ink.WARN.value if is_warned else Ink.MUTED.value)
        looks = self.tr("LayaDesk looks every minute whether the server is there.")
        self.remark.setText("\n".join([where_to(host_of(url)), *map(remark, remarks), looks]))

    def _on_tested(self, found: EndpointTest) -> None:
        self.test_button.setEnabled(True)
        if found.state.error is not None:
            self._on_failed(found.state.error)
            return
        completer = QCompleter(list(found.state.models), self)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self.model.setCompleter(completer)
        said = self.tr("It answers in {time}: {text}").format(
            time=seconds(found.took_ms or 0.0), text=" ".join(found.said.split())[:80]
        )
        if found.serves_model is False:
            listed = ", ".join(found.state.models[:8])
            missing = self.tr("It does not list this model; it lists: {names}").format(names=listed)
            said = f"{said}\n{missing}"
        self._say(said)

    def _on_saved(self, saved: Saved) -> None:
        said = self.tr("{name} is kept.").format(name=saved.expert.name)
        if saved.key_place is not None:
            said = together(said, key_place(saved.key_place, "keys.json"))
        self.kept.emit(said)
        self.accept()

    def _on_failed(self, report: ErrorReport) -> None:
        self.test_button.setEnabled(True)
        self.keep_button.setEnabled(True)
        detail = str(report.facts.get("detail") or "")
        self._say(together(sentence(report), detail), is_wrong=True)

    def _say(self, text: str, *, is_wrong: bool = False) -> None:
        set_look(self.told, "ink", Ink.DANGER.value if is_wrong else Ink.TEXT.value)
        self.told.setText(text)
