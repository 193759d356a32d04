"""Commands, their output, their exit status, and one clear line for what goes wrong."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from layadesk.cli.main import with_files
from layadesk.cli.printing import display_width
from layadesk.domain.hardware import GPU_FIELDS, HOST_FIELDS
from tests.cli.conftest import REPO, Done, Shell
from tests.fakes.gguf_files import write_gguf
from tests.fakes.nvml_library import build_library


def complains(done: Done, *words: str) -> bool:
    """Status 1, nothing on stdout, one line on stderr with these words and no traceback."""
    lines = done.err.strip().splitlines()
    return done.status == 1 and len(lines) == 1 and all(word in lines[0] for word in ("layadesk:", *words))


def test_ask_streams_the_answer_and_nothing_else_to_stdout(shell: Shell) -> None:
    shell.install()
    shell.script(text="red, 绿 and blue 🦊")
    done = shell.run("ask", "Name three colours.")
    assert (done.status, done.out, done.err) == (0, "red, 绿 and blue 🦊\n", "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["/a b/x.gguf"], ["--open", "/a b/x.gguf"]),
        (["x.GGUF", "y.gguf", "--data-dir", "d"], ["--open", "x.GGUF", "y.gguf", "--data-dir", "d"]),
        (["--data-dir", "d", "x.gguf"], ["--data-dir", "d", "--open", "x.gguf"]),
        (["--data-dir", "x.gguf", "models", "list"], ["--data-dir", "x.gguf", "models", "list"]),
        (["/a/model without a name.bin"], ["--open", "/a/model without a name.bin"]),
        (["--open", "x.gguf", "y.gguf"], ["--open", "x.gguf", "y.gguf"]),
        (["fit", "x.gguf"], ["fit", "x.gguf"]),
        ([], []),
    ],
)
def test_model_files_alone_open_the_window_with_them(arguments: list[str], words: list[str]) -> None:
    assert with_files(arguments) == words


def test_options_may_stand_before_the_command(shell: Shell, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    imported = shell.run("--data-dir", str(elsewhere), "models", "import", str(write_gguf(tmp_path / "tiny.gguf")))
    assert imported.status == 0, imported.err
    assert (elsewhere / "models" / "inventory.json").is_file()


def test_ask_json_prints_one_object_with_all_of_its_parts(shell: Shell) -> None:
    shell.install()
    shell.script(text="red")
    found = shell.run("ask", "Name a colour.", "--json").json
    assert set(found) == {"text", "thinking", "expert", "route", "finish_reason", "timings", "memory"}
    assert (found["text"], found["expert"], found["finish_reason"]) == ("red", "tiny", "stop")
    assert found["route"]["reason"] == "only_expert"
    assert found["timings"]["n_decoded"] == 3  # a byte is a token here
    assert {"prefill_tps", "decode_tps", "ttft_ms"} <= set(found["timings"])


def test_bench_engine_prints_figures_and_ratios(shell: Shell) -> None:
    model = shell.folder / "any.gguf"
    model.touch()
    shell.script(text="word " * 40, decode_tps=2000)
    done = shell.run("bench", "engine", "--model", str(model), "--only", "single,parallel", "--rounds", "1", "--json")
    assert done.status == 0, done.err
    named = {(one["name"], one["contender"]) for one in done.json["ratios"]}
    assert ("8 conversations : one by one", "layadesk") in named
    assert {one["unit"] for one in done.json["figures"]} == {"tok/s"}


def test_bench_engine_refuses_what_it_does_not_know(shell: Shell) -> None:
    assert complains(shell.run("bench", "engine", "--model", "nowhere.gguf"), "nowhere.gguf")
    wrong = shell.run("bench", "engine", "--only", "singel")
    assert wrong.status == 2
    assert "singel is none of single, parallel, ttft, gap, kv" in wrong.err


def test_thinking_is_kept_apart_and_shown_where_it_is_all_there_is(shell: Shell) -> None:
    shell.install()
    shell.script(text="<think>Hm.</think>Yes.")
    assert shell.run("ask", "Really?").out == "Yes.\n"
    found = shell.run("ask", "Really?", "--json").json
    assert (found["thinking"], found["text"]) == ("Hm.", "Yes.")
    assert found["timings"]["n_thinking"] > 0
    shell.script(text="<think>Never ending")
    assert shell.run("ask", "Really?").out == "Never ending\n"


def test_a_thinking_budget_closes_the_thoughts(shell: Shell) -> None:
    shell.install()
    shell.script(text="<think>ab\n</think>\n\nYes.")
    found = shell.run("ask", "Really?", "--thinking-budget", "2", "--json").json
    assert (found["thinking"], found["text"]) == ("ab", "Yes.")


def test_the_choice_about_thinking_is_kept_for_each_expert(shell: Shell) -> None:
    shell.install()
    assert shell.run("models", "thinking", "tiny").out == "tiny: thinking auto\n"
    assert shell.run("models", "thinking", "tiny", "off").status == 0
    assert shell.run("models", "thinking", "tiny", "--json").json == {"expert": "tiny", "thinking": "off"}
    assert complains(shell.run("models", "thinking", "nobody", "off"), "nobody")


def test_an_answer_bound_to_a_file_that_is_no_schema_says_so(shell: Shell) -> None:
    shell.install()
    schema = shell.folder / "schema.json"
    assert complains(shell.run("ask", "hi", "--json-schema", str(schema)), "JSON schema", "cannot be read")
    schema.write_text("{", encoding="utf-8")
    assert complains(shell.run("ask", "hi", "--json-schema", str(schema)), "JSON schema")


def test_ask_reads_the_question_from_standard_input(shell: Shell) -> None:
    shell.install()
    shell.script(text=None)  # the answer repeats the question
    assert shell.run("ask", "-", stdin="多行\nquestion").out == "多行\nquestion\n"


def test_max_tokens_is_a_ceiling(shell: Shell) -> None:
    shell.install()
    shell.script(text="abcdefgh")
    found = shell.run("ask", "go", "--max-tokens", "3", "--json").json
    assert (found["text"], found["finish_reason"]) == ("abc", "length")


def test_what_cannot_be_answered_is_one_line(shell: Shell) -> None:
    assert complains(shell.run("ask", "hello"), "no expert")
    shell.install()
    assert complains(shell.run("ask", "  "), "empty")
    assert complains(shell.run("ask", "hello", "--expert", "zeta"), "zeta", "not installed")


def test_a_dying_engine_is_one_line_and_the_text_before_it_is_printed(shell: Shell) -> None:
    shell.install()
    shell.script(text="abcdefgh", decode_tps=20.0, faults=[{"kind": "kill", "at_token": 7}])
    done = shell.run("ask", "go")
    assert done.status == 1
    assert done.out.startswith("abc")
    assert done.err.startswith("layadesk:")
    assert len(done.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("frobnicate",),
        ("ask",),
        ("ask", "hello", "--max-tokens", "0"),
        ("ask", "hello", "--max-tokens", "many"),
        ("ask", "hello", "--temperature", "-1"),
        ("ask", "hello", "--temperature", "nan"),
        ("ask", "hello", "--seed", "99999999999999999999"),
        ("ask", "hello", "--max-tokens", "99999999999999999999"),
        ("--data-dir", ""),
        ("models",),
        ("models", "import"),
    ],
)
def test_bad_usage_is_status_two_and_no_traceback(shell: Shell, arguments: tuple[str, ...]) -> None:
    done = shell.run(*arguments)
    assert done.status == 2
    assert done.err.startswith("usage:")
    assert "Traceback" not in done.err


def test_a_command_that_is_not_built_yet_is_not_offered(shell: Shell) -> None:
    done = shell.run("--help")
    assert done.status == 0
    offered = re.findall(r"^    ([a-z]+)\b", done.out.partition("COMMAND\n")[2], re.MULTILINE)
    assert sorted(offered) == ["ask", "bench", "doctor", "fit", "models", "route", "router", "serve", "smoke"]


def test_models_are_listed_as_they_are(shell: Shell) -> None:
    assert "No expert is installed" in shell.run("models", "list").out
    shell.install("größer 模型")
    (model,) = shell.run("models", "list", "--json").json["models"]
    assert model["path"] == str(shell.folder / "größer 模型.gguf")
    assert model["is_present"] is True
    Path(model["path"]).unlink()
    assert "(missing)" in shell.run("models", "list").out


def test_the_columns_of_the_list_stand_under_each_other_in_any_script(shell: Shell) -> None:
    for name in ("größer 模型", "plain", "e\N{COMBINING ACUTE ACCENT}"):
        shell.install(name)
    head, *rows = shell.run("models", "list").out.splitlines()
    assert head.split() == ["ID", "NAME", "SIZE", "QUANTIZATION", "CONTEXT", "FILE"]
    assert len(rows) == 3
    sizes = [re.search(r"\S+ (bytes|B|[KMG]iB)\b", row) for row in rows]
    starts = {display_width(row[: size.start()]) for row, size in zip(rows, sizes, strict=True) if size is not None}
    assert None not in sizes
    assert starts == {head.index("SIZE")}


@pytest.mark.parametrize(
    ("content", "word"), [(b"", "empty"), (b"<html>no model</html>" * 9, "not a GGUF"), (b"GGUF\x03\0\0\0", "")]
)
def test_a_file_that_is_no_model_is_refused_in_one_line(shell: Shell, content: bytes, word: str) -> None:
    file = shell.folder / "bad.gguf"
    file.write_bytes(content)
    assert complains(shell.run("models", "import", str(file)), "bad.gguf", word)
    assert shell.run("models", "list", "--json").json == {"models": []}


def test_a_missing_file_is_one_line(shell: Shell) -> None:
    assert complains(shell.run("models", "import", str(shell.folder / "nowhere.gguf")), "nowhere.gguf")


def test_smoke_passes_and_its_exit_status_says_so(shell: Shell) -> None:
    shell.install()
    shell.script(text="red, green, blue")
    found = shell.run("smoke", "--json")
    assert found.status == 0
    assert found.json["passed"] is True
    assert [step["name"] for step in found.json["steps"]] == ["route", "load", "answer", "measure"]


def test_smoke_fails_without_an_expert_and_with_a_silent_one(shell: Shell) -> None:
    assert shell.run("smoke").status == 1
    shell.install()
    shell.script(text="")
    done = shell.run("smoke", "--json")
    assert done.status == 1
    assert done.json["passed"] is False


def test_doctor_names_what_is_missing_and_its_status_says_whether_it_matters(shell: Shell) -> None:
    empty = shell.run("doctor", "--json")
    assert empty.status == 1
    levels = {finding["check"]: finding["level"] for finding in empty.json["findings"]}
    assert levels["experts"] == "fail"
    assert levels["starter"] == "warn"
    assert levels["engine"] == levels["router"] == levels["packages"] == "ok"
    shell.install()
    text = shell.run("doctor")
    assert text.status == 0
    assert "FAIL" not in text.out


def test_a_probe_tells_every_figure_or_why_there_is_none(shell: Shell) -> None:
    done = shell.run("doctor", "--probe", "--json")
    assert done.status == 0
    told = done.json
    assert set(told["host"]) == set(HOST_FIELDS)
    for name, figure in told["host"].items():
        assert figure["value"] is not None or figure["why"], name
    assert told["host"]["ram_total_bytes"]["value"] > 2**20
    assert told["host"]["engine_bytes"]["value"] is None or told["host"]["engine_bytes"]["value"] > 0
    assert told["gpus"] or told["gpus_why"]
    text = shell.run("doctor", "--probe")
    assert "ram_available_bytes" in text.out
    assert "(" in text.out


@pytest.mark.skipif(sys.platform != "linux", reason="LD_LIBRARY_PATH")
def test_a_probe_shows_nvidias_cards(shell: Shell, tmp_path: Path) -> None:
    library = build_library(tmp_path)
    library.rename(tmp_path / "libnvidia-ml.so.1")
    (tmp_path / "gpus").write_text("gpu0.used=20000000000\ngpu0.compute=77:NA\ngpu0.util=97\n", encoding="ascii")
    told = shell.run(
        "doctor", "--probe", "--json", LD_LIBRARY_PATH=str(tmp_path), FAKE_NVML_STATE=str(tmp_path / "gpus")
    ).json
    fields = next(gpu for gpu in told["gpus"] if gpu["source"] == "nvml")["fields"]
    assert set(fields) == set(GPU_FIELDS)
    assert fields["vram_used_bytes"] == {"value": 20000000000, "why": None}
    assert fields["pcie_rx_bytes_per_s"] == {"value": None, "why": "only_in_loads"}


def test_doctor_tells_a_broken_engine(shell: Shell) -> None:
    shell.install()
    shell.script(at_start="exit")
    done = shell.run("doctor", "--json")
    assert done.status == 1
    assert {finding["check"]: finding["level"] for finding in done.json["findings"]}["engine"] == "fail"


def test_errors_speak_the_language_of_the_settings(shell: Shell) -> None:
    shell.data_dir.mkdir()
    settings = shell.data_dir / "settings.json"
    settings.write_text('{"schema": 1, "values": {"ui.language": "zh_CN"}}', encoding="utf-8")
    assert "专家" in shell.run("ask", "hello").err


def test_a_data_directory_that_is_a_file_is_one_line(shell: Shell) -> None:
    shell.data_dir.write_bytes(b"")
    for command in (("ask", "hello"), ("models", "list"), ("smoke",)):
        assert complains(shell.run(*command), "data")


def test_what_a_hostile_file_says_of_itself_cannot_steer_the_terminal(shell: Shell) -> None:
    file = write_gguf(shell.folder / "evil.gguf", {"general.architecture": "a\x1b[31m\x07\N{RIGHT-TO-LEFT OVERRIDE}b"})
    done = shell.run("models", "import", str(file))
    assert complains(done, "evil.gguf")
    assert not {"\x1b", "\x07", "\N{RIGHT-TO-LEFT OVERRIDE}"} & set(done.err)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_logs_on_a_full_disk_cost_no_answer_and_no_traceback(shell: Shell) -> None:
    shell.install()
    shell.script(text="red")
    logs = shell.data_dir / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    for name in ("app", "engine", "engine-native", "router", "router-native"):
        (logs / f"{name}.log").unlink(missing_ok=True)
        (logs / f"{name}.log").symlink_to("/dev/full")
    done = shell.run("ask", "go")
    assert (done.status, done.out, done.err) == (0, "red\n", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_an_output_without_room_is_one_line(shell: Shell) -> None:
    command = [sys.executable, "-m", "layadesk", "models", "list", "--data-dir", str(shell.data_dir)]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, cwd=REPO, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "layadesk: The output could not be written: no space is left where it goes.\n"


@pytest.mark.skipif(sys.platform != "linux", reason="only X11 and Wayland can be missing")
@pytest.mark.parametrize(("wayland", "platform"), [("wayland-gone", ""), ("wayland-gone", "wayland"), ("", "nonsense")])
def test_a_window_system_that_is_not_there_is_said_in_one_line(shell: Shell, wayland: str, platform: str) -> None:
    done = shell.run("--data-dir", str(shell.data_dir), DISPLAY="", WAYLAND_DISPLAY=wayland, QT_QPA_PLATFORM=platform)
    assert complains(done, "no screen")


@pytest.mark.skipif(sys.platform != "linux", reason="only X11 and Wayland can be missing")
@pytest.mark.parametrize(("display", "platform"), [("", ""), ("", "xcb"), (":4711", ""), (":4711", "xcb")])
def test_without_a_display_the_window_says_so_in_one_line(shell: Shell, display: str, platform: str) -> None:
    arguments = ("--data-dir", str(shell.data_dir))
    done = shell.run(*arguments, DISPLAY=display, WAYLAND_DISPLAY="", QT_QPA_PLATFORM=platform)
    assert complains(done, "no screen")
