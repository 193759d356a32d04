"""Every text of the window in both languages, with the same placeholders."""

import re
from itertools import product
from string import Formatter
from xml.etree import ElementTree

import pytest
from PySide6.QtWidgets import QApplication

from layadesk.domain.chat import MessageStatus
from layadesk.domain.errors import ErrorCode, ErrorReport, Fact
from layadesk.domain.hardware import Why
from layadesk.domain.inference import FinishReason
from layadesk.domain.models import ForeignFormat, NotChatKind
from layadesk.domain.routing import OutReason, RouteReason
from layadesk.domain.storage import StorageKind
from layadesk.domain.worker_state import ExitKind, WorkerKind
from layadesk.ui.language import CHINESE, ENGLISH, Language, read_ts, ts_file
from layadesk.ui.texts import model_kinds, words
from layadesk.ui.texts.errors import explain, sentence
from layadesk.usecases.turns import TurnPhase
from tests.ui.source_strings import SourceString, source_strings

STRINGS, ODD = source_strings()
LANGUAGES = (ENGLISH, CHINESE)
FORMS = {language: read_ts(ts_file(language)) for language in LANGUAGES}
HAN = re.compile(r"[\u4e00-\u9fff]")
SAME_IN_BOTH = {"Esc", "Enter", "{text} {sentence}"}


def placeholders(text: str) -> list[str]:
    return sorted([name for _, name, _, _ in Formatter().parse(text) if name is not None] + re.findall("%n", text))


def named(one: object) -> str:
    return str(one) if not isinstance(one, SourceString) else f"{one.context}: {one.source[:40]}"


def test_the_walk_through_the_source_finds_the_texts() -> None:
    assert SourceString("Composer", "Send", is_counted=False) in STRINGS
    assert SourceString("AnswerView", "%n token(s)", is_counted=True) in STRINGS
    assert len(STRINGS) > 200


def test_a_text_is_written_out_where_it_is_marked_so_that_it_can_be_found() -> None:
    """The tables of `texts` mark their entries and translate them later; nobody else does."""
    tables: tuple[str, ...] = (
        "alerts.py",
        "card_notes.py",
        "diagnoses.py",
        "download_errors.py",
        "error_table.py",
        "findings.py",
        "model_kinds.py",
        "remote.py",
    )
    tables += ("errors.py", "setting_texts.py", "label_names.py", "words.py", "inside.py")
    assert [call for call in ODD if not call.startswith(tables)] == []


@pytest.mark.parametrize("string", sorted(STRINGS, key=named), ids=named)
def test_every_text_has_a_chinese_translation_with_the_same_placeholders(string: SourceString) -> None:
    forms = FORMS[CHINESE].get((string.context, string.source))
    assert forms is not None, f"assets/i18n/{ts_file(CHINESE).name} lacks {string}"
    assert len(forms) == 1  # Chinese has no plural forms
    assert placeholders(forms[0]) == placeholders(string.source)
    assert HAN.search(forms[0]) or string.source in SAME_IN_BOTH


@pytest.mark.parametrize("string", sorted((s for s in STRINGS if s.is_counted), key=named), ids=named)
def test_every_counted_text_has_both_english_forms(string: SourceString) -> None:
    forms = FORMS[ENGLISH].get((string.context, string.source))
    assert forms is not None, f"assets/i18n/{ts_file(ENGLISH).name} lacks {string}"
    assert len(forms) == 2
    for form in forms:
        assert placeholders(form) == placeholders(string.source)
        assert "(s)" not in form


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_translation_file_holds_nothing_that_is_not_in_the_source(language: str) -> None:
    known = {(string.context, string.source) for string in STRINGS}
    assert set(FORMS[language]) - known == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_translation_file_is_one_that_qt_linguist_opens(language: str) -> None:
    root = ElementTree.parse(ts_file(language)).getroot()
    assert root.tag == "TS"
    assert root.get("language") == language
    for message in root.iter("message"):
        counted = message.get("numerus") == "yes"
        assert counted == (message.find("translation/numerusform") is not None), message.findtext("source")


@pytest.fixture
def language(qapp: QApplication) -> Language:
    return Language(qapp)


@pytest.mark.parametrize(("code", "choice"), list(product(ErrorCode, LANGUAGES)), ids=str)
def test_every_error_has_a_sentence_and_a_remedy_in_both_languages(
    code: ErrorCode, choice: str, language: Language
) -> None:
    language.use(choice)
    explanation = explain(ErrorReport(code, {"path": "/a b/模型.gguf", "n_prompt": 9000, "n_ctx": 8192}))
    language.use(ENGLISH)
    for text in (explanation.what, explanation.remedy):
        assert text
        assert "{" not in text
        assert bool(HAN.search(text.replace("模型.gguf", ""))) == (choice == CHINESE)
    assert explanation.what != explanation.remedy


def test_facts_are_filled_in_and_a_missing_one_hides_nothing(language: Language) -> None:
    language.use(ENGLISH)
    facts: dict[str, Fact] = {"path": "/m/x.gguf", "size_bytes": 1_000, "needed_bytes": 2_000_000}
    truncated = explain(ErrorReport(ErrorCode.GGUF_TRUNCATED, facts))
    assert truncated.what == "The file /m/x.gguf is cut off: it has 1,000 bytes and needs at least 2,000,000."
    too_long = explain(ErrorReport(ErrorCode.CONTEXT_LENGTH_EXCEEDED, {"n_prompt": 9000, "n_ctx": 8192}))
    assert too_long.what == "The message is too long: 9000 tokens, and the context holds 8192."
    unknown = explain(ErrorReport(ErrorCode.GGUF_VERSION, {"path": "x"}))
    assert unknown.what == "The file x is written in GGUF version ?, which is not supported."


@pytest.mark.parametrize("code", [ErrorCode.HUB_CHANGED, ErrorCode.DOWNLOAD_DAMAGED, ErrorCode.HUB_NOT_FOUND])
def test_an_error_of_a_download_names_the_file(code: ErrorCode, language: Language) -> None:
    language.use(ENGLISH)
    said = explain(ErrorReport(code, {"host": "hf.example", "repo": "a/b", "file": "x-Q4_K_M.gguf"}))
    assert "x-Q4_K_M.gguf" in said.what
    assert "?" not in said.what


def test_a_damaged_catalogue_of_ones_own_is_told_with_its_place(language: Language) -> None:
    language.use(ENGLISH)
    facts: dict[str, Fact] = {"path": "/d/models.json", "entry": 2, "detail": "mine: no name"}
    said = explain(ErrorReport(ErrorCode.OWN_CATALOGUE_DAMAGED, facts))
    assert said.what == "In your own catalogue, /d/models.json, entry 3 cannot be used: mine: no name."
    whole = explain(ErrorReport(ErrorCode.OWN_CATALOGUE_DAMAGED, {**facts, "entry": None}))
    assert "the file as a whole" in whole.what


def test_a_value_that_is_not_possible_is_told_with_those_that_are(language: Language) -> None:
    language.use(ENGLISH)
    facts: dict[str, Fact] = {"parameter": "quantization", "value": "Q9", "known": "Q4_K_M, Q8_0"}
    assert explain(ErrorReport(ErrorCode.BAD_PARAMETER, facts)).remedy == "Choose one of: Q4_K_M, Q8_0."


def test_an_expert_is_called_by_its_name_where_that_is_known(language: Language) -> None:
    language.use(ENGLISH)
    report = ErrorReport(ErrorCode.MODEL_LOAD_FAILED, {"expert": "smol", "detail": "unable to allocate"})
    assert "SmolLM2 135M" in explain(report, name="SmolLM2 135M").what
    assert "smol" in explain(report).what
    assert explain(report).detail == "unable to allocate"


def test_the_sentence_for_the_terminal_is_one_line(language: Language) -> None:
    language.use(ENGLISH)
    text = sentence(ErrorReport(ErrorCode.NO_EXPERT_INSTALLED))
    assert text == "There is no expert yet that could answer. Add a model file (GGUF)."


def test_the_end_of_the_engine_is_told_in_words(language: Language) -> None:
    language.use(ENGLISH)
    report = ErrorReport(ErrorCode.ENGINE_DIED, {"kind": "killed", "detail": "SIGKILL"})
    assert "most likely because memory ran out (SIGKILL)" in explain(report).what
    assert explain(report).detail == ""  # what the sentence says already is not said twice


@pytest.mark.parametrize("choice", LANGUAGES)
def test_every_state_and_reason_has_words_in_both_languages(choice: str, language: Language) -> None:
    language.use(choice)
    found = [words.route_reason(reason) for reason in RouteReason]
    found += [words.short_route_reason(reason) for reason in RouteReason]
    found += [words.out_reason(reason) for reason in OutReason]
    found += [words.exit_words(kind, "SIGSEGV") for kind in ExitKind]
    found += [words.exit_remedy(kind) for kind in ExitKind]
    found += [words.message_status(status) for status in MessageStatus]
    found += [words.finish_reason(reason) for reason in FinishReason]
    found += [words.storage_kind(kind) for kind in StorageKind]
    found += [words.worker_name(worker) for worker in WorkerKind]
    found += [words.not_available(why) for why in Why]
    found += [words.phase(phase, position=0) for phase in TurnPhase]
    found += [words.complexity(level) for level in range(1, 6)]
    found += [model_kinds.not_chat_kind(kind) for kind in NotChatKind]
    found += [model_kinds.foreign_format(kind) for kind in ForeignFormat]
    language.use(ENGLISH)
    for text in found:
        assert text
        assert bool(HAN.search(text)) == (choice == CHINESE), text


def test_an_unknown_reason_is_shown_as_it_is_and_no_reason_is_no_reading_yet(language: Language) -> None:
    language.use(ENGLISH)
    assert words.not_available("pixie_dust") == "n/a, because pixie_dust"
    assert words.not_available(None) == "n/a, because there is no reading yet"


@pytest.mark.parametrize(("n", "expected"), [(1, "Waiting, 1 request ahead…"), (2, "Waiting, 2 requests ahead…")])
def test_english_counts_one_and_many(n: int, expected: str, language: Language) -> None:
    language.use(ENGLISH)
    assert words.phase(TurnPhase.QUEUED, position=n) == expected


def test_a_fraction_is_never_rounded_up_to_done(language: Language) -> None:
    language.use(ENGLISH)
    assert words.phase(TurnPhase.LOADING, fraction=0.999) == "Loading the expert… 99 %"
