"""A model on this disk: what its header says it is, where it lies, and what can be done with it."""

from PySide6.QtCore import QEvent, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from layadesk.domain.models import InstalledModel
from layadesk.ui.texts import library
from layadesk.ui.texts.numbers import percent, tokens
from layadesk.ui.theme.fonts import small_font, strong_font
from layadesk.ui.theme.tokens import GAP_M, GAP_S, GAP_XS, Ink
from layadesk.ui.widgets.elided_label import ElidedLabel
from layadesk.ui.widgets.icon_button import IconButton
from layadesk.ui.widgets.meter_bar import MeterBar
from layadesk.ui.widgets.roles import note, set_look, set_role


class InstalledRow(QFrame):
    """Signals:
    chat_requested, verify_requested, remove_requested: the model's id.
    """

    chat_requested = Signal(str)
    verify_requested = Signal(str)
    remove_requested = Signal(str)

    def __init__(self, model: InstalledModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "card")
        self.setObjectName(f"installed-{model.model_id}")
        self.model = model
        self._share: float | None = None
        self._verdict: bool | None = None
        self._is_verifying = False
        self._has_verdict = False
        self._title = ElidedLabel()
        self._title.setFont(strong_font())
        self._facts = note()
        self._path = ElidedLabel(meaning=Ink.MUTED)
        self._path.setFont(small_font())
        self._state = note()
        self._meter = MeterBar()
        self.chat, self.verify = QPushButton(), QPushButton()
        self.chat.setObjectName("chat-with-installed")
        self.verify.setObjectName("verify")
        self.remove = IconButton("trash")
        self.remove.setObjectName("remove")
        self._lay_out()
        self.chat.clicked.connect(self._on_chat)
        self.verify.clicked.connect(self._on_verify)
        self.remove.clicked.connect(self._on_remove)
        self.refresh()

    def show_model(self, model: InstalledModel) -> None:
        """It may have vanished, or come back."""
        self.model = model
        self.refresh()

    def show_progress(self, share: float | None) -> None:
        """How far its files have been read for the sum."""
        self._is_verifying, self._share = True, share
        self.refresh()

    def show_verdict(self, is_right: bool | None) -> None:
        """Whether its files are as they should be; None where nobody knows how they should be."""
        self._is_verifying, self._has_verdict, self._verdict = False, True, is_right
        self.refresh()

    def end_progress(self) -> None:
        """It was not found out."""
        self._is_verifying = False
        self.refresh()

    def text(self) -> str:
        """All that it says."""
        return " ".join(filter(None, (self._title.text(), self._facts.text(), self._path.text(), self._state.text())))

    def focus_chain(self) -> list[QWidget]:
        """For the Tab key."""
        return [self.chat, self.verify, self.remove]

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self.refresh()
        super().changeEvent(event)

    def _lay_out(self) -> None:
        words = QVBoxLayout()
        words.setSpacing(GAP_XS // 2)
        for widget in (self._title, self._facts, self._path, self._state, self._meter):
            words.addWidget(widget)
        row = QHBoxLayout(self)
        row.setContentsMargins(GAP_M, GAP_S, GAP_S, GAP_S)
        row.setSpacing(GAP_S)
        row.addLayout(words, 1)
        for button in (self.chat, self.verify, self.remove):
            row.addWidget(button)

    def refresh(self) -> None:
        """Everything anew."""
        model = self.model
        self._title.set_text(model.name)
        self._facts.setText(" · ".join(self._fact_words()))
        self._path.set_text(model.path)
        self._state.setText(self._state_words())
        ink = Ink.OK if self._verdict else Ink.MUTED
        if not model.is_present or (self._has_verdict and self._verdict is False):
            ink = Ink.DANGER
        set_look(self._state, "ink", ink.value)
        self._state.setVisible(bool(self._state.text()))
        self._meter.setVisible(self._is_verifying)
        self._meter.set_shares([("accent", self._share or 0.0)])
        self._meter.setAccessibleName(self._state.text())
        self.chat.setText(self.tr("Chat with it"))
        self.chat.setAccessibleName(self.tr("Chat with {name}").format(name=model.name))
        self.chat.setEnabled(model.is_present)
        self.verify.setText(self.tr("Verify"))
        self.verify.setAccessibleName(
            self.tr("Verify {name}: read all of it and compare its sum").format(name=model.name)
        )
        self.verify.setToolTip(self.verify.accessibleName())
        self.verify.setEnabled(model.is_present and not self._is_verifying)
        self.remove.set_name(self.tr("Remove {name}…").format(name=model.name))
        self.setAccessibleName(self.text())

    def _fact_words(self) -> list[str]:
        model = self.model
        words = [model.quantization or "", library.size(model.size_bytes), model.architecture]
        if model.n_ctx_train is not None:
            words.append(self.tr("context up to {n} tokens").format(n=tokens(model.n_ctx_train)))
        if not model.has_chat_template:
            words.append(self.tr("no chat template"))
        words.append(library.origin_words(model.origin))
        return [word for word in words if word]

    def _state_words(self) -> str:
        if not self.model.is_present:
            return self.tr("The file is not there any more.")
        if self._is_verifying:
            return self.tr("Reading… {share}").format(share="" if self._share is None else percent(self._share)).strip()
        if not self._has_verdict:
            return ""
        if self._verdict is None:
            return self.tr("It can be read. What its sum should be, nobody has told.")
        if self._verdict:
            return self.tr("Every byte is as it should be.")
        return self.tr("It is damaged: its sum is another one. Remove it and download it again.")

    @Slot()
    def _on_chat(self) -> None:
        self.chat_requested.emit(self.model.model_id)

    @Slot()
    def _on_verify(self) -> None:
        self.verify_requested.emit(self.model.model_id)

    @Slot()
    def _on_remove(self) -> None:
        self.remove_requested.emit(self.model.model_id)
