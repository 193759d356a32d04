"""From what an expert writes to what is read on screen, exactly."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QColor, QGuiApplication, QTextDocument
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from layadesk.ui.language import Language
from layadesk.ui.markup.code_view import CodeView
from layadesk.ui.markup.formulas import Drawn, Formulas
from layadesk.ui.markup.message_body import MessageBody
from layadesk.ui.markup.parts import Kit
from layadesk.ui.markup.prose_view import ProseView
from layadesk.ui.markup.text_view import TextView
from layadesk.ui.markup.thinking_head import ThinkingHead
from tests.fakes.markup import AtOnce, NoFormulas, still_kit
from tests.ui.hands import press

TALL = 100_000


@pytest.fixture
def body(qtbot: QtBot, qapp: QApplication) -> MessageBody:
    Language(qapp).use("en")
    body = MessageBody(still_kit(), width=600)
    qtbot.addWidget(body)
    body.show()
    body.show_range(0, TALL)
    return body


TABLE = [
    ("money", "I have $24000 and you have $40000", "I have $24000 and you have $40000"),
    ("money-two", "$5 and $10", "$5 and $10"),
    ("money-range", "between $5-$10, or 10$", "between $5-$10, or 10$"),
    ("money-escaped", r"\$5 and \$10", "$5 and $10"),
    ("money-words", "from $100 to fix and $200 to keep", "from $100 to fix and $200 to keep"),
    ("maths-inline", r"so $a^2$ and \(b\)", "so a^2 and b"),
    ("maths-money", r"$\$0.60$", r"\$0.60"),
    ("maths-display", "$$\nx = 1\n$$", "x = 1"),
    ("maths-brackets", "\\[\nx\n\n- y\n\\]", "x\n\n- y"),
    ("maths-open", "so $$x = 1", "so $$x = 1"),
    ("maths-code", "`$x$`", "$x$"),
    ("fence", "a\n```py\nx = 1\n```\nb", "a\nx = 1\nb"),
    ("fence-open", "a\n```py\nx = 1", "a\nx = 1"),
    ("fence-in-list", "1. a\n   ```\n   x\n   ```\n2. b", "1. a\nx\n2. b"),
    ("fence-in-quote", "> a\n> ```\n> x\n> ```", "a\nx"),
    ("thinking", "<think>hm</think>\n\nYes.", "Yes."),
    ("thinking-open", "<think>Hello! How are you?", "Hello! How are you?"),
    ("thinking-orphan", "hm\n</think>\nYes.", "Yes."),
    ("thinking-in-code", "```\n<think>\n```", "<think>"),
    ("thinking-word", "The tag <think> opens it.", "The tag <think> opens it."),
    ("html", "<b>a</b><script>alert(1)</script>", "<b>a</b><script>alert(1)</script>"),
    ("html-block", "<div>\n**a**\n</div>", "<div>\na\n</div>"),
    ("html-entity", "a &lt;b&gt; &copy;", "a <b> ©"),
    ("picture", "![x](https://attacker.example/p.png?leak=1)", "[picture, not loaded: x]"),
    ("picture-local", "![x](file:///etc/passwd)", "![x](file:///etc/passwd)"),
    ("link", "[a](https://ok.example)", "a"),
    ("link-script", "[a](javascript:alert(1))", "[a](javascript:alert(1))"),
    ("link-file", "[a](file:///etc/passwd)", "[a](file:///etc/passwd)"),
    ("emphasis", "**a** *b* ~~c~~ `d`", "a b c d"),
    ("lines", "one\ntwo  \nthree", "one\ntwo\nthree"),
    ("list", "- a\n  - b\n- [x] c", "• a\n  • b\n• ☑ c"),
    ("list-start", "7. a\n8. b", "7. a\n8. b"),
    ("list-loose", "1. a\n\n   more\n\n2. b", "1. a\nmore\n2. b"),
    ("heading", "# A\ntext", "A\ntext"),
    ("table", "| a | b |\n|---|---|\n| 1 | `2` |", "a\nb\n1\n2"),
    ("chinese", "中文，**粗体**。$x$是数", "中文，粗体。x是数"),
    ("emoji", "👨‍👩‍👧 🇩🇪 é", "👨‍👩‍👧 🇩🇪 é"),
    ("rtl", "שלום **עולם**", "שלום עולם"),
    ("controls", "a\x00b", "a\N{REPLACEMENT CHARACTER}b"),
    ("crlf", "a\r\nb\r\n\r\nc", "a\nb\nc"),
    ("cropped", "x" * 4_100, "x" * 4_000 + "\n… and 100 more characters; Copy takes all of them"),
    ("empty", "", ""),
]  # fmt: skip


def read(body: MessageBody) -> str:
    """Without the empty lines that tables and rules stand between."""
    return "\n".join(line for line in body.shown_text().split("\n") if line) if body.shown_text().strip() else ""


@pytest.mark.parametrize(("text", "shown"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_what_is_written_is_read_so(body: MessageBody, text: str, shown: str) -> None:
    body.set_text(text, is_finished=True)
    assert read(body) == "\n".join(line for line in shown.split("\n") if line)


@pytest.mark.parametrize(("text", "shown"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_what_is_streamed_letter_by_letter_is_read_so_too(body: MessageBody, text: str, shown: str) -> None:
    step = 1 if len(text) < 500 else 97
    for at in range(0, len(text), step):
        body.feed(text[at : at + step])
    body.finish()
    assert read(body) == "\n".join(line for line in shown.split("\n") if line)


WORDS = st.sampled_from(
    [
        "word ",
        "**",
        "`",
        "\n",
        "\n\n",
        "- ",
        "1. ",
        "```\n",
        "| a | b |\n|---|---|\n",
        "$x$",
        "> ",
        "<think>",
        "</think>",
    ]
)


@given(st.lists(WORDS, max_size=25), st.lists(st.integers(1, 9), max_size=40))
@settings(deadline=None, max_examples=60)
def test_streamed_and_stored_read_the_same(qapp: QApplication, words: list[str], cuts: list[int]) -> None:
    text = "".join(words)
    streamed, stored = MessageBody(still_kit(), width=600), MessageBody(still_kit(), width=600)
    at = 0
    for cut in [*cuts, len(text)]:
        streamed.feed(text[at : at + cut])
        at += cut
    streamed.finish()
    stored.set_text(text, is_finished=True)
    assert read(streamed) == read(stored)
    streamed.deleteLater()
    stored.deleteLater()


def test_nothing_is_fetched(body: MessageBody, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reported fault G43: no document ever asks for a picture by its address."""
    asked: list[str] = []
    monkeypatch.setattr(
        TextView, "loadResource", lambda _, kind, url: asked.append(QUrl(url).toString()), raising=False
    )
    body.set_text(
        "![x](https://a.example/p.png) <img src='http://b.example/'> ![](data:image/png;base64,AA)", is_finished=True
    )
    body.grab()
    assert asked == []


def test_a_link_says_where_it_leads_and_only_asks(body: MessageBody) -> None:
    body.set_text("[click](https://ok.example/where)", is_finished=True)
    (view,) = body.views
    assert isinstance(view, TextView)
    cursor = view.textCursor()
    cursor.setPosition(2)
    view.setTextCursor(cursor)
    chosen: list[str] = []
    body.link_chosen.connect(chosen.append)
    press(view, Qt.Key.Key_Return)
    assert chosen == ["https://ok.example/where"]
    assert cursor.charFormat().toolTip() == "https://ok.example/where"


def code_view(body: MessageBody) -> CodeView:
    return next(view for view in body.views if isinstance(view, CodeView))


def test_code_is_copied_whole_also_where_a_line_is_cropped(body: MessageBody) -> None:
    body.set_text("```js\n" + "x" * 10_000 + "\nend\n```", is_finished=True)
    view = code_view(body)
    assert view.label.text() == "js"
    assert "6,000 more characters" in view.text.toPlainText()
    view.copy_button.click()
    assert QGuiApplication.clipboard().text() == "x" * 10_000 + "\nend\n"


def test_the_last_line_is_whole_where_letters_of_another_font_make_lines_higher(body: MessageBody) -> None:
    code = "".join(f"let x = {n}; // 已经有序 {n}\n" for n in range(40)) + "}"
    body.set_text(f"```js\n{code}\n```", is_finished=True)
    text = code_view(body).text
    document = text.document()
    layout = document.documentLayout()
    block, needed = document.firstBlock(), 0.0
    while block.isValid():
        needed += layout.blockBoundingRect(block).height()
        block = block.next()
    assert code_view(body).height() - text.y() >= needed


def test_code_has_colours_and_a_string_over_two_lines_too(body: MessageBody, qtbot: QtBot) -> None:
    body.set_text('```python\ndef f():\n    """one\n    two"""\n```', is_finished=True)
    view = code_view(body)

    def colours(line: int) -> list[QColor]:
        layout = view.text.document().findBlockByNumber(line).layout()
        return [one.format.foreground().color() for one in layout.formats()]

    qtbot.waitUntil(lambda: bool(colours(2)))
    assert colours(1) == colours(2)
    assert colours(0) != colours(1)


def test_while_code_streams_only_what_is_new_is_written(body: MessageBody) -> None:
    body.feed("```python\nx = 1\n")
    text = code_view(body).text
    changes: list[tuple[int, int, int]] = []
    text.document().contentsChange.connect(lambda at, gone, came: changes.append((at, gone, came)))
    for _ in range(50):
        body.feed("y = 2\n")
    assert all(gone == 0 for _, gone, came in changes if came < 20)
    assert text.toPlainText() == "x = 1\n" + "\n".join(["y = 2"] * 50)


def test_only_the_last_piece_of_prose_is_written_again(body: MessageBody) -> None:
    body.feed("first paragraph\n\nsecond **para")
    (view,) = body.views
    assert isinstance(view, ProseView)
    touched: list[int] = []
    view.document().contentsChange.connect(lambda at, gone, came: touched.append(at))
    body.feed("graph** and more")
    assert touched
    assert min(touched) >= len("first paragraph")


def test_what_is_far_from_view_has_none_and_its_height_stays(body: MessageBody) -> None:
    body.set_text("\n\n".join(f"Paragraph {i} " + "word " * 60 for i in range(300)), is_finished=True)
    body.show_range(0, 600)
    height = body.height()
    n_top = len(body.views)
    body.show_range(height - 600, height)
    assert len(body.views) < 15
    assert n_top < 15
    body.show_range(0, 600)
    assert len(body.views) < 15
    assert body.height() > 10_000


def test_thinking_without_an_end_is_unfolded(body: MessageBody) -> None:
    body.feed("<think>Hello!")
    head = next(view for view in body.views if isinstance(view, ThinkingHead))
    assert not head.isChecked()
    assert head.text() == "Thinking…"
    body.finish()
    assert head.isChecked()


class OneFormula:
    def __init__(self) -> None:
        self.drawn: Drawn | None = None

    def find(self, tex: str, *, is_display: bool) -> Drawn | None:
        return self.drawn


def test_a_formula_is_its_text_until_it_is_drawn_and_copied_as_text_after(qtbot: QtBot) -> None:
    formulas = OneFormula()
    body = MessageBody(Kit(formulas, AtOnce()), width=600)
    qtbot.addWidget(body)
    body.set_text("so $a^2$ it is", is_finished=True)
    assert body.shown_text() == "so a^2 it is"
    svg = b'<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><rect width="20" height="10"/></svg>'
    formulas.drawn = Drawn(svg, 20.0, 10.0, 2.0)
    body.draw_again()
    (view,) = body.views
    assert isinstance(view, TextView)
    assert "\N{OBJECT REPLACEMENT CHARACTER}" in view.toPlainText()
    assert body.shown_text() == "so a^2 it is"
    view.selectAll()
    assert view.createMimeDataFromSelection().text() == "so a^2 it is"


@pytest.mark.parametrize("tex", [r"\frac{a}{b}", r"\sum_{i=1}^n i^2", r"\begin{pmatrix}a&b\\c&d\end{pmatrix}"])
def test_formulas_are_drawn(qapp: QApplication, tex: str) -> None:
    formulas = Formulas(AtOnce())
    formulas.find(tex, is_display=True)
    drawn = formulas.find(tex, is_display=True)
    assert drawn is not None
    image = drawn.image(QColor("red"), 2.0)
    assert image.width() == 2 * drawn.width
    inked = [image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height())]
    assert any(one.red() > 200 and one.alpha() > 200 for one in inked)


@pytest.mark.parametrize("tex", [r"\frac{1", "x^", r"\bad{", "{" * 900 + "}" * 900, "x" * 3000, r"\begin{matrix}"])
def test_what_is_no_formula_stays_text(qapp: QApplication, tex: str) -> None:
    formulas = Formulas(AtOnce())
    assert formulas.find(tex, is_display=False) is None
    assert formulas.find(tex, is_display=False) is None
    assert isinstance(NoFormulas().find(tex, is_display=False), type(None))


def test_documents_are_never_given_html(body: MessageBody) -> None:
    body.set_text("<h1>a</h1>", is_finished=True)
    (view,) = body.views
    assert isinstance(view, TextView)
    document: QTextDocument = view.document()
    assert "&lt;h1&gt;" in document.toHtml()
