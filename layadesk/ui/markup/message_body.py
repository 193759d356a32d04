"""The text of one message on screen: it takes the stream, and the state machines say what to show."""

from PySide6.QtWidgets import QWidget

from layadesk.ui.markup.blocks import BlockSplitter, CodeEnd, CodeStart, CodeText, Prose, Step
from layadesk.ui.markup.part_column import PartColumn
from layadesk.ui.markup.parts import VIEW_CHARS, CodePart, HeadPart, Kit, Part, ProsePart, plain_parts
from layadesk.ui.markup.thinking import AllWasThinking, Piece, ThinkingSplitter


class MessageBody(PartColumn):
    """`feed` takes the answer, `feed_thinking` thinking that comes apart from it, `finish` says that it is whole."""

    def __init__(self, kit: Kit, parent: QWidget | None = None, *, width: int = 0, has_markup: bool = True) -> None:
        super().__init__(kit, parent, width=width)
        self._has_markup = has_markup
        self._is_finished = False
        self._start_machines()

    def set_text(self, text: str, *, is_finished: bool) -> None:
        """Show `text` in place of what is there."""
        self.clear()
        if not self._has_markup:
            for part in plain_parts(text) if text else []:
                self._add(part)
            self._arrange()
            return
        self.feed(text)
        if is_finished:
            self.finish()

    def feed_thinking(self, text: str) -> None:
        """More thinking that comes apart from the answer."""
        if not text:
            return
        if not self._is_thinking:
            self._switch_thinking(begins=True)
            self._thinking.expect_no_more()
        self._thinking_source.append(text)
        head = self._head()
        if head is not None:
            head.n_chars += len(text)
        self._take_steps(self._blocks.feed(text))
        self._arrange()

    def feed(self, text: str) -> None:
        """More text of the answer."""
        if not text:
            return
        self._source.append(text)
        self._take_pieces(self._thinking.feed(text.replace("\0", "\N{REPLACEMENT CHARACTER}")))
        self._arrange()

    def finish(self) -> None:
        """The text is complete. Thinking without an end is unfolded, because it may be the answer."""
        if self._is_finished:
            return
        self._is_finished = True
        self._take_pieces(self._thinking.finish())
        self._take_steps(self._blocks.finish())
        head = self._head()
        if head is not None and head.is_running:
            head.is_running = False
            if self._is_thinking:
                self._unfold(head, is_unfolded=True)
            head.refresh()
        self._arrange()

    @property
    def is_finished(self) -> bool:
        """Whether nothing can be added any more."""
        return self._is_finished

    @property
    def source(self) -> str:
        """The text of the answer that was fed."""
        return _joined(self._source)

    @property
    def thinking_source(self) -> str:
        """The thinking that was fed apart."""
        return _joined(self._thinking_source)

    def _start_machines(self) -> None:
        self._thinking = ThinkingSplitter()
        self._blocks = BlockSplitter()
        self._is_thinking = False
        self._source: list[str] = []
        self._thinking_source: list[str] = []
        self._is_finished = False
        self._blocks_have_text = False

    def clear(self) -> None:
        super().clear()
        self._start_machines()

    def _take_pieces(self, pieces: list[Piece | AllWasThinking]) -> None:
        for piece in pieces:
            if isinstance(piece, AllWasThinking):
                self._make_all_thinking()
                continue
            if piece.is_thinking != self._is_thinking:
                self._switch_thinking(begins=piece.is_thinking)
            text = piece.text if self._blocks_have_text else piece.text.lstrip("\n")
            if text:
                self._blocks_have_text = True
                self._take_steps(self._blocks.feed(text))
            head = self._head()
            if head is not None and piece.is_thinking:
                head.n_chars += len(piece.text)
        if self._is_thinking and not self._thinking.is_open and pieces:
            self._switch_thinking(begins=False)

    def _switch_thinking(self, *, begins: bool) -> None:
        self._take_steps(self._blocks.finish())
        self._blocks = BlockSplitter()
        self._blocks_have_text = False
        self._is_thinking = begins
        if begins:
            self._add(HeadPart())
        else:
            head = self._head()
            if head is not None:
                head.is_running = False
                head.refresh()

    def _make_all_thinking(self) -> None:
        """The prompt had opened thinking: read everything again, as thinking."""
        text = "".join(self._source)
        self.clear()
        before = text.partition("</think")[0]
        self._source = [text]
        self._switch_thinking(begins=True)
        self._take_steps(self._blocks.feed(before.strip("\n")))
        head = self._head()
        if head is not None:
            head.n_chars = len(before)
        self._switch_thinking(begins=False)
        self._thinking.expect_no_more()

    def _take_steps(self, steps: list[Step]) -> None:
        touched: dict[int, Part] = {}
        for step in steps:
            part = self._take_step(step)
            touched[id(part)] = part
        for part in touched.values():
            part.refresh()

    def _take_step(self, step: Step) -> Part:
        last = self._parts[-1] if self._parts else None
        match step:
            case Prose():
                if not isinstance(last, ProsePart) or self._is_full(last):
                    last = self._add(ProsePart(is_thinking=self._is_thinking))
                last.take(step)
                self._estimate(last)
                return last
            case CodeStart(language=language, indent=indent):
                if isinstance(last, ProsePart) and last.is_open:
                    last.pieces.pop()
                return self._add(CodePart(language, indent, is_thinking=self._is_thinking))
            case CodeText(text=text, rest=rest):
                assert isinstance(last, CodePart)
                last.add(text, rest)
                self._estimate(last)
                return last
            case CodeEnd():
                assert isinstance(last, CodePart)
                last.is_closed = True
                return last

    def _is_full(self, part: ProsePart) -> bool:
        return part.is_thinking != self._is_thinking or (not part.is_open and part.n_chars > VIEW_CHARS)


def _joined(parts: list[str]) -> str:
    if len(parts) > 1:
        parts[:] = ["".join(parts)]
    return parts[0] if parts else ""
