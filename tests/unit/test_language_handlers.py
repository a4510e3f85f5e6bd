"""The handler contract, the registry and the Python handler."""

import base64
import io
import shlex
import tarfile

import pytest

from llm_sandbox.const import SupportedLanguage, language_name
from llm_sandbox.data import ConsoleOutput, ExecutionResult, FileType, PlotOutput
from llm_sandbox.exceptions import (
    ArtifactLimitError,
    LanguageNotSupportedError,
    LibraryInstallationNotSupportedError,
    ProtocolError,
    SandboxFileNotFoundError,
    ValidationError,
)
from llm_sandbox.language_handlers import (
    AbstractLanguageHandler,
    ContainerProtocol,
    LanguageConfig,
    LanguageHandlerFactory,
    PlotDetectionConfig,
    PlotLibrary,
    registry,
)
from llm_sandbox.language_handlers.archive import plots_from_archive

PYTHON = LanguageHandlerFactory.create_handler("python")
PLOT = PlotOutput(FileType.PNG, "aGk=")


class ShellHandler(AbstractLanguageHandler):
    """A language with comments known only by pattern and no packages."""

    def __init__(self, logger=None):
        super().__init__(logger)
        self.config = LanguageConfig("shellish", "sh", ["sh -n {file}", "sh {file}"], None)

    def get_import_patterns(self, module):
        return rf"^source {module}$"

    @staticmethod
    def get_multiline_comment_patterns():
        return r"<#[\s\S]*?#>"

    @staticmethod
    def get_inline_comment_patterns():
        return r"#[^\n]*"


class Container:
    """A container that is no session of ours."""

    def __init__(self, result, archive=None):
        self.result, self.archive, self.asked = result, archive, []

    def execute_command(self, command, workdir=None):
        return ConsoleOutput()

    def get_archive(self, path):
        self.asked.append(path)
        if self.archive is None:
            raise SandboxFileNotFoundError("no such directory", path=path)
        return self.archive, {"name": path}

    def run(self, code, libraries=None):
        self.ran = (code, libraries)
        return self.result


def tar(*members):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            if name.startswith("special"):
                info.type, info.linkname = content, "/etc/passwd"
                archive.addfile(info)
            else:
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def test_the_python_handler_describes_itself():
    assert (PYTHON.name, PYTHON.file_extension) == ("python", "py")
    assert PYTHON.is_support_library_installation
    assert PYTHON.is_support_plot_detection
    assert PlotLibrary.MATPLOTLIB in PYTHON.supported_plot_libraries
    assert PYTHON.get_execution_commands("/a b.py") == ["python '/a b.py'"]


@pytest.mark.parametrize(
    ("library", "canonical"),
    [
        ("pandas", "pandas"),
        ("pandas[excel]>=2,<3", "pandas[excel]>=2,<3"),
        ("scikit-learn==1.5.*", "scikit-learn==1.5.*"),
        ("ruamel.yaml~=0.18", "ruamel.yaml~=0.18"),
        ("a[b, c] >= 1.0 , != 1.2", "a[b,c]>=1.0,!=1.2"),
        ("torch==2.1.0+cpu", "torch==2.1.0+cpu"),
        ("x==1!2.0rc1", "x==1!2.0rc1"),
        ("x", "x"),
    ],
)
def test_a_requirement_is_installed_by_one_quoted_word(library, canonical):
    assert PYTHON.validate_library(library) == canonical
    words = shlex.split(PYTHON.get_library_installation_command(library))
    assert words[-2:] == ["--", canonical]


@pytest.mark.parametrize(
    "library",
    [
        "",
        " pandas",
        "pandas ",
        "pandas\n",
        "pan das",
        "pandas\tnumpy",
        "pandas\u00a0>=2",
        "x; touch y",
        "x; python_version<'3'",
        "x$(id)",
        "x`id`",
        "x|id",
        "x&&id",
        "x>out;",
        "x > /tmp/out",
        "--index-url=https://evil",
        "-e.",
        "-r requirements.txt",
        ".",
        "./pkg",
        "/tmp/pkg.whl",
        "pkg @ https://evil/x.whl",
        "git+https://token@host/x",
        "https://evil/x.whl",
        "x[",
        "x[]",
        "x[../a]",
        "x>=",
        "x===1",
        "x==newest",
        "x>=1,,<2",
        "x>=1.*",
        "x==-1",
        "x==1 --pre",
        "x,y",
        "x>=1,",
        "${HOME}",
        "x" * 201,
        "\u0440andas",
        "pandas\0",
        None,
        3,
        ["pandas"],
        b"pandas",
    ],
)
def test_anything_but_a_requirement_is_refused_and_not_repeated(library):
    with pytest.raises(ValidationError) as caught:
        PYTHON.get_library_installation_command(library)
    assert "evil" not in str(caught.value)
    assert "token" not in str(caught.value)


@pytest.mark.parametrize(
    ("code", "kept"),
    [
        ("x = 1 # gone", "x = 1"),
        ("x = '#'; y = 2", "x = '#'; y = 2"),
        ("'''# kept\n# kept'''  # gone", "'''# kept\n# kept'''"),
        ("# gone\nx", "\nx"),
        ("f'{a}#b' # gone", "f'{a}#b'"),
        ("x = 1 # a\rimport os", "x = 1\nimport os"),
        ("x = (1 # gone\n", "x = (1 \n"),
        ("x = '# kept' + ( # gone", "x = '# kept' + ( "),
        ("", ""),
    ],
)
def test_comments_go_and_strings_stay(code, kept):
    assert PYTHON.filter_comments(code) == kept


@pytest.mark.parametrize(
    "code", ["a\n# b\nc\n", "'''\n#\n'''\n# x\n)(", "(\n#\n", "\0\n# \ud800\n"]
)
def test_lines_keep_their_numbers(code):
    assert PYTHON.filter_comments(code).count("\n") == code.count("\n")


def test_no_code_is_injected_into_python():
    assert PYTHON.inject_plot_detection_code("plot()") == "plot()"


def test_a_session_result_brings_its_plots():
    container = Container(ExecutionResult(plots=[PLOT]))
    result, plots = PYTHON.run_with_artifacts(container, "code", ["numpy"])
    assert container.ran == ("code", ["numpy"])
    assert result is container.result
    assert plots == [PLOT]
    assert container.asked == []
    assert isinstance(container, ContainerProtocol)


def test_a_foreign_container_is_searched_for_plot_files():
    container = Container(ConsoleOutput(), iter([tar(("plots/1.png", b"hi"))]))
    _, plots = PYTHON.run_with_artifacts(container, "code", output_dir="/plots")
    assert plots == [PLOT]
    assert container.asked == ["/plots"]
    assert PYTHON.run_with_artifacts(Container(ConsoleOutput()), "code")[1] == []


def test_plots_that_are_not_wanted_are_not_returned():
    container = Container(ExecutionResult(plots=[PLOT]))
    assert PYTHON.run_with_artifacts(container, "code", enable_plotting=False)[1] == []


def test_only_regular_plot_files_leave_an_archive():
    content = tar(
        ("p/2.svg", b"<svg/>"),
        ("p/1.JPG", b"j"),
        ("p/notes.txt", b"t"),
        ("../../escape.png", b"e"),
        ("special/link.png", tarfile.SYMTYPE),
        ("special/hard.png", tarfile.LNKTYPE),
        ("special/pipe.png", tarfile.FIFOTYPE),
        ("special/dir.png", tarfile.DIRTYPE),
    )
    plots = plots_from_archive(content)
    assert [base64.b64decode(plot.content_base64) for plot in plots] == [b"e", b"j", b"<svg/>"]


def test_archives_are_bounded():
    content = tar(*((f"{n}.png", b"x") for n in range(5)))
    assert len(plots_from_archive(content, files=3)) == 3
    with pytest.raises(ArtifactLimitError):
        plots_from_archive(iter(lambda: b"\0" * 1024, None), total_bytes=10_000)


@pytest.mark.parametrize("content", [b"not a tar", b"\x1f\x8b" + b"\0" * 600])
def test_what_is_no_tar_archive_is_a_protocol_error(content):
    with pytest.raises(ProtocolError):
        plots_from_archive(content)


def test_a_truncated_archive_is_a_protocol_error_or_empty():
    content = tar(("1.png", b"x" * 5000))
    for size in (100, 512, 700, 3000):
        try:
            plots = plots_from_archive(content[:size])
        except ProtocolError:
            continue
        assert plots == []


@pytest.mark.parametrize("name", ["js", "node", "TS", "c++", "golang", "rb", "sh", "py"])
def test_a_language_is_found_by_its_other_names(name):
    assert LanguageHandlerFactory.create_handler(name).name == str(language_name(name))
    assert language_name(name) in list(SupportedLanguage)


@pytest.mark.parametrize("name", ["cobol", "", "python;", None])
def test_an_unknown_language_names_the_known_ones(name):
    with pytest.raises(LanguageNotSupportedError, match=r"not supported.*python"):
        LanguageHandlerFactory.create_handler(name)


def test_a_language_is_found_in_any_case():
    assert LanguageHandlerFactory.create_handler(" Python ").name == "python"


def test_a_registered_handler_serves_its_language(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})
    LanguageHandlerFactory.register_handler("Shellish", ShellHandler)
    assert "shellish" in LanguageHandlerFactory.get_supported_languages()
    assert isinstance(LanguageHandlerFactory.create_handler("shellish"), ShellHandler)
    with pytest.raises(ValidationError):
        LanguageHandlerFactory.register_handler("other", str)


def test_a_handler_without_packages_or_plots_says_so():
    handler = ShellHandler()
    assert handler.supported_plot_libraries == []
    assert not handler.is_support_plot_detection
    assert handler.get_execution_commands("a;b") == ["sh -n 'a;b'", "sh 'a;b'"]
    with pytest.raises(LibraryInstallationNotSupportedError, match="shellish"):
        handler.get_library_installation_command("x")
    container = Container(ExecutionResult(plots=[PLOT]))
    assert handler.run_with_artifacts(container, "code")[1] == []


def test_comments_by_pattern_keep_line_numbers():
    assert ShellHandler().filter_comments("a <# x\ny #> b # c\nd") == "a \n b \nd"


def test_set_up_and_clean_up_code_surround_the_users():
    handler = ShellHandler()
    assert handler.inject_plot_detection_code("x") == "x"
    handler.config.plot_detection = PlotDetectionConfig([PlotLibrary.PLOTLY], "before", "after")
    assert handler.inject_plot_detection_code("x") == "before\nx\nafter"


@pytest.mark.parametrize("library", ["-o", "a b", "a;b", "", "a\n", "$(x)", None])
def test_the_default_handler_refuses_what_is_no_library_name(library):
    handler = ShellHandler()
    handler.config.package_manager = "pm install"
    assert handler.get_library_installation_command("@scope/x") == "pm install @scope/x"
    with pytest.raises(ValidationError):
        handler.get_library_installation_command(library)
