"""About: which version, what it is made of and under which licences, and where the user's own things are."""

from PySide6.QtCore import QCoreApplication, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QHBoxLayout, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from layadesk.ui.theme.fonts import title_font
from layadesk.ui.theme.icons import application_icon
from layadesk.ui.theme.tokens import GAP_M, GAP_S
from layadesk.ui.widgets.roles import note
from layadesk.usecases.about import About

SIZE = (560, 460)
_ICON_PX = 48


class AboutDialog(QDialog):
    """Closed by Escape; everything in it can be copied."""

    def __init__(self, about: About, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("about")
        self.setWindowTitle(self.tr("About LayaDesk"))
        self.resize(*SIZE)
        self._about = about
        self._said = self._sentences()
        self.parts = QPlainTextEdit(parts_text(about))
        self.parts.setObjectName("about-parts")
        self.parts.setReadOnly(True)
        self.parts.setTabChangesFocus(True)
        self.parts.setAccessibleName(self.tr("Parts and their licences"))
        self.parts.setPlaceholderText(self.tr("Not installed as a package, so its parts are not known."))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(GAP_M, GAP_M, GAP_M, GAP_M)
        layout.setSpacing(GAP_S)
        layout.addLayout(self._head())
        for sentence in self._said[1:]:
            text = note(sentence)
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            layout.addWidget(text)
        layout.addWidget(self.parts, 1)
        layout.addWidget(self._buttons())

    def _sentences(self) -> list[str]:
        about = self._about
        return [
            f"LayaDesk {about.version}",
            self.tr("Python {python} on {system}").format(python=about.python, system=about.system),
            self.tr("Your chats, settings and models: {folder}").format(folder=about.data_dir),
            self.tr(
                "LayaDesk is free software under the Apache License 2.0. It uses Qt and PySide6 under the GNU LGPL, "
                "version 3, as separate libraries that you may replace with changed versions of them."
            ),
        ]

    def _head(self) -> QHBoxLayout:
        icon = QLabel()
        icon.setPixmap(application_icon().pixmap(_ICON_PX, _ICON_PX))
        icon.setAccessibleName(self.tr("The sign of LayaDesk"))
        title = QLabel(self._said[0])
        title.setFont(title_font())
        head = QHBoxLayout()
        head.setSpacing(GAP_M)
        head.addWidget(icon)
        head.addWidget(title, 1)
        return head

    def _buttons(self) -> QDialogButtonBox:
        buttons = QDialogButtonBox()
        self.open_folder = buttons.addButton(self.tr("Open the folder"), QDialogButtonBox.ButtonRole.ActionRole)
        self.copy = buttons.addButton(self.tr("Copy"), QDialogButtonBox.ButtonRole.ActionRole)
        close = buttons.addButton(self.tr("Close"), QDialogButtonBox.ButtonRole.RejectRole)
        close.setDefault(True)
        self.open_folder.clicked.connect(self._on_open_folder)
        self.copy.clicked.connect(self._on_copy)
        buttons.rejected.connect(self.reject)
        return buttons

    @Slot()
    def _on_open_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._about.data_dir)))

    @Slot()
    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText("\n".join([*self._said, "", self.parts.toPlainText()]))


def parts_text(about: About) -> str:
    """One part a line: name, version, licence."""
    not_told = QCoreApplication.translate("AboutDialog", "licence: see its own files")
    return "\n".join(f"{part.name} {part.version} · {part.licence or not_told}" for part in about.parts())
