"""Results: fields, JSON, and how they show themselves."""

import base64
import dataclasses
import json
import pickle
import subprocess
import sys
import time

import pytest

from llm_sandbox.artifacts import Artifact, ArtifactType
from llm_sandbox.const import RunCause, RunStatus, StateOutcome
from llm_sandbox.data import (
    ConsoleOutput,
    ExecutionResult,
    FileType,
    PlotOutput,
    ProcessResult,
    Usage,
)
from llm_sandbox.exceptions import (
    ArtifactLimitError,
    ArtifactNotFoundError,
    ValidationError,
)
from llm_sandbox.network import NetworkEvent
from llm_sandbox.results.contents import Content
from llm_sandbox.results.findings import Finding, Observation, Span
from llm_sandbox.results.outputs import DisplayOutput, ExecutionError, StreamOutput, TracebackFrame

PNG = base64.b64encode(b"\x89PNG fake").decode()
SVG = base64.b64encode(b"<svg><script>alert(1)</script></svg>").decode()
FULL = ExecutionResult(
    137,
    "err \0",
    "out \ud800",
    [PlotOutput(FileType.PNG, PNG, 4, 3, 100), PlotOutput(FileType.SVG, SVG)],
    status=RunStatus.OOM,
    outputs=(StreamOutput("stdout", "out"), DisplayOutput({"image/png": PNG, "text/plain": "f"})),
    artifacts=(
        Artifact(
            ArtifactType.FIGURE,
            "image/png",
            Content.of(base64.b64decode(PNG)),
            9,
            outputs=(1,),
            event="show",
        ),
        Artifact(ArtifactType.DATA, "text/csv", Content.of(b"a,b\n"), 4, ("a\nb.csv",)),
        Artifact(ArtifactType.LINK, "inode/symlink", paths=("l",), note="a link to '/etc'"),
    ),
    deleted=("old.csv",),
    error=ExecutionError("MemoryError", "", (TracebackFrame("<cell>", 1),), 1),
    value="1",
    usage=Usage(1.5, 0.25, 1024, {"execute": 1.25}),
    state=StateOutcome.RESET,
    execution_count=3,
    stdout_truncated=True,
    stderr_truncated=True,
    dropped_bytes=9,
    dropped_outputs=2,
    timed_out=True,
    oom_killed=True,
    signal=9,
    notes=("the kernel was restarted; variables are gone",),
    findings=(
        Finding(
            "python/process.run",
            "process.run",
            "high",
            "medium",
            Span(1, 2, 3, 4),
            "\ud800",
            "os.system",
            "runs another program (os.system)",
            cwe=78,
            route=("eval", "chr"),
            inner=Span(1, 1, 1, 9),
        ),
    ),
    observations=(Observation("os.system", "process.run", "id \0", 2),),
    network=(NetworkEvent(1, 2.5, "tcp", "denied", "denied", None, "192.0.2.7", 80, "x", 3),),
    cause=RunCause.CPU,
)


def test_reference_positions_and_defaults_are_kept():
    assert ConsoleOutput() == ConsoleOutput(0, "", "")
    assert ExecutionResult().plots == []
    first = ["exit_code", "stderr", "stdout", "plots"]
    assert [item.name for item in dataclasses.fields(ExecutionResult)][:4] == first
    assert ConsoleOutput().success()
    assert not ConsoleOutput(1).success()


def test_text_warns_and_returns_stdout():
    with pytest.warns(DeprecationWarning, match="stdout"):
        assert ConsoleOutput(0, "e", "o").text() == "o"


def test_every_field_of_a_result_survives_strict_json_and_pickle():
    defaults = ExecutionResult()
    names = [item.name for item in dataclasses.fields(ExecutionResult)]
    assert all(getattr(FULL, name) != getattr(defaults, name) for name in names)
    assert ExecutionResult.from_json(FULL.to_json(indent=2)) == FULL
    assert ExecutionResult.from_dict(json.loads(json.dumps(FULL.to_dict()))) == FULL
    assert pickle.loads(pickle.dumps(FULL)) == FULL
    assert ExecutionResult.from_json(defaults.to_json()) == defaults


def test_json_without_plots_holds_no_image_and_says_how_many_there_were():
    text = FULL.to_json(include_plots=False)
    assert PNG not in text
    assert SVG not in text
    back = ExecutionResult.from_json(text)
    assert [plot.format for plot in back.plots] == [FileType.PNG, FileType.SVG]
    assert back.outputs[1].data == {"text/plain": "f"}


def test_unknown_fields_are_ignored_and_other_schemas_refused():
    data = FULL.to_dict()
    assert ExecutionResult.from_dict({**data, "later": 1}) == FULL
    with pytest.raises(ValidationError, match="schema 1"):
        ExecutionResult.from_dict({**data, "schema": 2})
    with pytest.raises(ValidationError, match="type"):
        ProcessResult.from_dict(data)


@pytest.mark.parametrize("text", ["", "[]", "{", '"x"', "3", "[" * 100_000])
def test_text_that_is_no_result_is_refused(text):
    with pytest.raises(ValidationError):
        ExecutionResult.from_json(text)


@pytest.mark.parametrize(
    "change",
    [
        {"status": "?"},
        {"plots": 3},
        {"plots": [3]},
        {"outputs": [{}]},
        {"outputs": [1]},
        {"usage": 1},
        {"notes": None},
        {"error": 3},
    ],
)
def test_malformed_fields_are_refused_with_our_error(change):
    with pytest.raises(ValidationError):
        ExecutionResult.from_dict({**FULL.to_dict(), **change})


def test_process_result_and_console_output_survive_json():
    process = ProcessResult(
        130, "e", "o\0", ("sh", "-c", "x"), 2, True, True, True, True, 4, duration_s=0.5
    )
    assert ProcessResult.from_dict(json.loads(json.dumps(process.to_dict()))) == process
    console = ConsoleOutput(2, "e", "o")
    assert ConsoleOutput.from_dict(json.loads(json.dumps(console.to_dict()))) == console


@pytest.mark.parametrize("status", RunStatus)
def test_every_field_is_either_measured_or_claimed(status):
    trust = ExecutionResult(status=status).trust
    named = [*trust["measured"], *trust["claimed"]]
    usage = {f"usage.{item.name}" for item in dataclasses.fields(Usage)}
    fields = {item.name for item in dataclasses.fields(ExecutionResult)} - {"usage"}
    assert len(named) == len(set(named))
    assert set(named) == fields | usage


def test_only_endings_that_the_host_sees_are_measured():
    assert "exit_code" in ExecutionResult(status=RunStatus.KILLED).trust["measured"]
    for status in (RunStatus.OK, RunStatus.ERROR, RunStatus.EXITED):
        assert {"exit_code", "status"} <= set(ExecutionResult(status=status).trust["claimed"])


def test_reprs_never_hold_images_or_output():
    secret = "sk-secret"
    result = dataclasses.replace(FULL, stdout=secret, stderr=secret)
    assert PNG not in repr(result)
    assert secret not in repr(result)
    assert repr(FULL.plots[0]) == "<PlotOutput png, 4x3, 100 dpi, 9 bytes>"


@pytest.mark.parametrize("cls", [ConsoleOutput, ProcessResult, ExecutionResult])
def test_print_shows_the_output(cls):
    """Both streams without control sequences; what has no output says what it is."""
    result = cls(exit_code=1, stdout="out\x1b[2J\n", stderr="why\n")
    assert str(result) == "out\nwhy"
    assert f"{result}" == str(result) != repr(result)
    assert str(cls()) == repr(cls())


def test_print_shows_what_the_sandbox_has_to_say():
    assert str(ExecutionResult(stdout="out\n", notes=("It was cut.",))) == "out\nIt was cut."


def test_a_result_shows_text_and_what_it_made_without_a_script():
    bundle = FULL._repr_mimebundle_()
    assert bundle.keys() == {"text/plain", "text/html"}
    assert "variables are gone" in bundle["text/plain"]
    assert f'src="data:image/png;base64,{PNG}"' in bundle["text/html"]
    assert "a link to" in bundle["text/html"]
    assert ExecutionResult()._repr_mimebundle_().keys() == {"text/plain"}


def test_a_page_from_inside_is_only_named_where_the_page_around_it_is_not_ours():
    page = Artifact(
        ArtifactType.HTML, "text/html", Content.of(b"<b>x</b><script>"), 16, outputs=(0,)
    )
    shown = ExecutionResult(artifacts=(page,))._repr_mimebundle_()["text/html"]
    assert "text/html" in shown
    assert "<iframe" not in shown
    assert "<script" not in shown


def test_an_artifact_is_found_by_its_id_the_beginning_of_it_or_its_path():
    figure, table, link = FULL.artifacts
    assert [FULL.artifact(name) for name in (figure.id, figure.id[:5], "a\nb.csv", "l")] == [
        figure,
        figure,
        table,
        link,
    ]
    for name in ("", "nothing", "zz"):
        with pytest.raises(ArtifactNotFoundError, match="no artifact"):
            FULL.artifact(name)


def test_an_artifact_without_content_says_why_when_it_is_asked():
    with pytest.raises(ArtifactLimitError, match="a link to '/etc'"):
        FULL.artifacts[2].bytes()


def test_an_artifact_is_described_on_one_line_without_control_characters():
    line = FULL.artifacts[1].describe()
    assert line == "data a\\nb.csv (text/csv, 4 bytes)"


def test_an_svg_is_shown_as_an_image_in_which_scripts_do_not_run():
    html = FULL.plots[1]._repr_mimebundle_()["text/html"]
    assert html.startswith("<img ")
    assert "<script" not in html
    breakout = PlotOutput(FileType.SVG, '"><script>')
    with pytest.raises(ValidationError):
        breakout._repr_mimebundle_()


def test_an_html_plot_is_never_rendered():
    page = PlotOutput(FileType.HTML, base64.b64encode(b"<script>").decode())
    assert page._repr_mimebundle_().keys() == {"text/plain"}


def test_save_adds_the_extension_only_when_there_is_none(tmp_path):
    plot = FULL.plots[0]
    assert plot.save(tmp_path / "a") == tmp_path / "a.png"
    assert plot.save(str(tmp_path / "b.image")) == tmp_path / "b.image"
    assert (tmp_path / "a.png").read_bytes() == plot.bytes() == b"\x89PNG fake"


def test_content_that_is_not_base64_is_refused():
    with pytest.raises(ValidationError, match="base64"):
        PlotOutput(FileType.PNG, "%%%").bytes()


@pytest.mark.parametrize("kind", FileType)
def test_every_file_type_is_found_by_its_mime_type(kind):
    assert FileType.from_mime(f"{kind.mime.upper()}; charset=utf-8") is kind


def test_an_unknown_mime_type_is_refused():
    with pytest.raises(ValidationError):
        FileType.from_mime("image/webp")


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b31mred", "red"),
        ("\x90payload\x9ctext", "text"),
        ("\x1bPpayload\x1b\\text", "text"),
        ("\x1b]never ended, still shown", "never ended, still shown"),
        ("\x1bc\x1b(Bx", "x"),
        ("a\0b\x08c\x7f\x85d", "abcd"),
        ("10%\r20%\r\nend", "10%\n20%\nend"),
        ("tab\tnew\n", "tab\tnew\n"),
        ("lone \ud800", "lone \ufffd"),
        ("\x1b\x1b[31m\x1b", ""),
    ],
)
def test_safe_text_has_no_control_sequences(raw, shown):
    assert ConsoleOutput(stdout=raw).safe_text == shown


def test_safe_text_keeps_the_streams_apart():
    assert ConsoleOutput(0, "e", "o").safe_text == "o\ne"


@pytest.mark.parametrize("unit", ["\x1b]", "\x1b[", "\x1b", "\x90", "\x1b[0", "\x1bP\x1b"])
def test_safe_text_of_many_unfinished_sequences_takes_linear_time(unit):
    started = time.perf_counter()
    ConsoleOutput(stdout=unit * 300_000).safe_text  # noqa: B018
    assert time.perf_counter() - started < 5


def test_the_words_import_neither_pydantic_nor_pillow():
    code = (
        "import sys, llm_sandbox.const, llm_sandbox.data, llm_sandbox.results.outputs,"
        " llm_sandbox.exceptions, llm_sandbox.limits;"
        "print(sorted({'pydantic', 'PIL', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
