"""Where the time of the last answer went, and how near it came to the ceiling."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from layadesk.domain.answer_time import ComputeProfile
from layadesk.domain.chat import Message
from layadesk.domain.errors import ErrorReport
from layadesk.ui.bridge import Bridge
from layadesk.ui.inside.stacked_bar import BarPart, StackedBar
from layadesk.ui.texts import inside, words
from layadesk.ui.texts.errors import explain
from layadesk.ui.texts.numbers import milliseconds, per_second, percent, seconds
from layadesk.ui.widgets.card import heading, make_card
from layadesk.ui.widgets.roles import note

if TYPE_CHECKING:
    from layadesk.usecases.explain_time import AnswerTime, ExplainTime


class TimeCard(QFrame):
    """Asks for an answer when it is shown; a profile only when the user asks for one."""

    def __init__(
        self,
        time: "ExplainTime",
        *,
        bridge: Bridge,
        screen_ms: Callable[[str], float | None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._time = time
        self._bridge = bridge
        self._screen_ms = screen_ms
        self._answer: Message | None = None
        self._found: AnswerTime | None = None
        self._profile: ComputeProfile | None = None
        self._failure: ErrorReport | None = None
        self._is_profiling = False
        self._title = heading()
        self.bar = StackedBar()
        self.ceiling = note()
        self.measure = QPushButton()
        self.measure.setObjectName("measure-token")
        self.measure.clicked.connect(self._on_measure)
        self.profile_bar = StackedBar()
        self.profile_note = note()
        make_card(self, self._title, self.bar, self.ceiling, self.profile_bar, self.profile_note, self.measure)
        self.retranslate()

    @property
    def has_answer(self) -> bool:
        """Whether there is an answer with times."""
        return self._answer is not None

    def show_answer(self, answer: Message | None) -> None:
        """The newest answer of the conversation; one without times counts as none. `refresh` then asks about it."""
        has_times = answer is not None and answer.timings is not None and answer.timings.n_decoded > 0
        answer = answer if has_times else None
        if answer is not None and self._answer is not None and answer.message_id == self._answer.message_id:
            if answer.timings == self._answer.timings:
                return
        elif answer is None or self._answer is None or answer.expert_id != self._answer.expert_id:
            self._profile = None
        self._answer, self._found = answer, None
        self.retranslate()

    def refresh(self) -> None:
        """Ask again, where it is not known."""
        if self._answer is not None and self._found is None and self.isVisible():
            screen_ms = self._screen_ms(self._answer.message_id)
            future = self._time.explain(self._answer, screen_ms=screen_ms)
            self._bridge.deliver(future, self._on_found, on_error=self._on_failed)
        self.retranslate()

    def retranslate(self) -> None:
        """In the language of the window."""
        self._title.setText(self.tr("Where the time of the last answer went"))
        self.bar.setAccessibleName(self._title.text())
        found = self._found
        parts = () if found is None else found.parts
        total = sum(ms or 0.0 for _, ms in parts)
        self.bar.show_parts(
            [BarPart(inside.time_part(part), ms, _shown(ms, total), inside.TIME_COLOURS[part]) for part, ms in parts]
        )
        self.ceiling.setText("" if found is None else self._ceiling_words(found))
        self.ceiling.setVisible(bool(self.ceiling.text()))
        self._show_profile()

    def _show_profile(self) -> None:
        profile = self._profile
        self.profile_bar.setVisible(profile is not None)
        self.profile_bar.setAccessibleName(self.tr("A token's computing by part"))
        if profile is not None:
            shares = dict(profile.shares())
            self.profile_bar.show_parts(
                [
                    BarPart(
                        inside.compute_part(part),
                        ms,
                        f"{milliseconds(shares[part] * profile.plain_ms)} · {percent(shares[part])}",
                        inside.COMPUTE_COLOURS[part],
                    )
                    for part, ms in profile.parts
                ]
            )
        self.profile_note.setText(self._profile_words())
        self.profile_note.setVisible(bool(self.profile_note.text()))
        self.measure.setText(
            self.tr("Measuring…") if self._is_profiling else self.tr("Measure what a token's computing is spent on")
        )
        self.measure.setAccessibleName(self.measure.text())
        self.measure.setToolTip(self.tr("Takes some seconds, in which nobody is answered."))
        self.measure.setEnabled(not self._is_profiling and self._answer is not None)

    def _profile_words(self) -> str:
        if self._failure is not None:
            found = explain(self._failure)
            return words.together(found.what, found.remedy)
        if self._profile is None:
            return ""
        slower = self._profile.profiled_ms / self._profile.plain_ms if self._profile.plain_ms else 1.0
        return self.tr(
            "Measured node by node after {n_past} tokens, which is {slower} times as slow as computing in one piece."
            " The times shown are the shares of {plain}, what a token takes in one piece."
        ).format(n_past=self._profile.n_past, slower=f"{slower:.1f}", plain=milliseconds(self._profile.plain_ms))

    def _ceiling_words(self, found: "AnswerTime") -> str:
        if found.ceiling is None:
            return self.tr("What this expert reads for a token is not known.")
        lines = [self.tr("A token reads") + " " + "; ".join(map(inside.reads, found.ceiling.reads)) + "."]
        known = found.ceiling.bandwidths
        rates = ", ".join(
            f"{one.device} {inside.rate(known[one.device]) if one.device in known else words.unknown()}"
            for one in found.ceiling.reads
        )
        best = found.ceiling.tokens_per_s
        if best is None:
            lines.append(
                self.tr("Memory is read at {rates}, so the best possible speed is not known.").format(rates=rates)
            )
        else:
            lines.append(
                self.tr("Memory is read at {rates}: at best {best} tok/s.").format(rates=rates, best=per_second(best))
            )
        if found.reached is not None and found.decode_tps is not None:
            lines.append(
                self.tr("This answer came at {tps} tok/s, {share} of that.").format(
                    tps=per_second(found.decode_tps), share=percent(found.reached)
                )
            )
        return " ".join(lines)

    @Slot()
    def _on_measure(self) -> None:
        if self._answer is None or self._answer.timings is None or self._answer.expert_id is None:
            return
        self._is_profiling, self._failure = True, None
        self.retranslate()
        n_past = self._answer.timings.n_prompt + self._answer.timings.n_decoded // 2
        future = self._time.profile(self._answer.expert_id, n_past)
        self._bridge.deliver(future, self._on_profiled, on_error=self._on_not_profiled)

    def _on_found(self, found: "AnswerTime") -> None:
        self._found = found
        self.retranslate()

    def _on_failed(self, report: ErrorReport) -> None:
        self._found = None
        self.retranslate()
        self.ceiling.setText(explain(report).what)
        self.ceiling.setVisible(True)

    def _on_profiled(self, profile: ComputeProfile) -> None:
        self._is_profiling, self._profile = False, profile
        self.retranslate()

    def _on_not_profiled(self, report: ErrorReport) -> None:
        self._is_profiling, self._failure = False, report
        self.retranslate()


def _shown(ms: float | None, total: float) -> str:
    if ms is None:
        return words.unknown()
    share = "< 1 %" if 0 < ms < 0.01 * total else percent(ms / total) if total > 0 else ""
    return f"{seconds(ms)} · {share}" if share else seconds(ms)
