"""Contract of a language handler: how one language is run, scanned, its libraries installed and its
plots captured.
"""

import inspect
import logging
import re
import shlex
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from llm_sandbox.data import PlotOutput
from llm_sandbox.exceptions import LibraryInstallationNotSupportedError, ValidationError
from llm_sandbox.results.outputs import ExecutionError
from llm_sandbox.toolchain import Toolchain

if TYPE_CHECKING:
    from llm_sandbox.language_handlers.packages import Packages

__all__ = [
    "AbstractLanguageHandler",
    "ContainerProtocol",
    "LanguageConfig",
    "PlotDetectionConfig",
    "PlotLibrary",
    "Step",
]

_SHELL_CHARACTERS = frozenset("|&;<>()$`*?~{}[]!#\\\"'\n")
_LIBRARY = re.compile(r"[A-Za-z0-9@][A-Za-z0-9@/._+:-]{0,199}", re.ASCII)


class PlotLibrary(StrEnum):
    """A plotting library whose figures a handler can capture."""

    MATPLOTLIB = "matplotlib"
    SEABORN = "seaborn"
    PLOTLY = "plotly"
    BOKEH = "bokeh"
    ALTAIR = "altair"
    PIL = "pil"
    BASE_R = "base_r"
    GGPLOT2 = "ggplot2"
    LATTICE = "lattice"
    D3 = "d3"
    VEGA = "vega"
    CHARTJS = "chart.js"
    GRUFF = "gruff"
    JFREECHART = "jfreechart"
    XCHART = "xchart"
    GONUM = "gonum"


@dataclass(slots=True)
class PlotDetectionConfig:
    """Settings of plot capture for one language."""

    libraries: list[PlotLibrary]
    """Libraries whose figures are captured."""
    setup_code: str = ""
    """Code run before the user's; empty (default) where capture needs none."""
    cleanup_code: str = ""
    """Code run after the user's; empty (default) where capture needs none."""


@dataclass(slots=True)
class LanguageConfig:
    """Static description of a language."""

    name: str
    """Name, in small letters."""
    file_extension: str
    """Extension of a source file, without the dot."""
    execution_commands: list[str]
    """Commands that run a source file, in order; `{file}` stands for its quoted path."""
    package_manager: str | None
    """Command that installs what is appended to it; None when there is none."""
    is_support_library_installation: bool = True
    """Whether libraries can be installed; True."""
    plot_detection: PlotDetectionConfig | None = None
    """Settings of plot capture; None (default) when figures are not captured."""


@dataclass(frozen=True, slots=True)
class Step:
    """One command of those that run a source file."""

    argv: tuple[str, ...]
    """The program and its arguments."""
    compiles: bool = False
    """Whether the step only compiles: its output is compiler output, and if it fails the code has
    not run; False."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment variables set in addition to the session's; none."""


@runtime_checkable
class ContainerProtocol(Protocol):
    """Methods of a session that a handler calls."""

    def execute_command(self, command: str, workdir: str | None = None) -> Any:
        """Run a shell command and return its `ConsoleOutput`."""

    def get_archive(self, path: str) -> tuple[Any, ...]:
        """Return a tar archive of `path` (bytes, or an iterable of bytes) and its stat."""

    def run(self, code: str, libraries: list[str] | None = None) -> Any:
        """Run code and return its result."""


class AbstractLanguageHandler(ABC):
    """Base class of handlers; a subclass sets `config` and implements the abstract methods.

    Args:
        logger: Logger of the handler; None for the library's own.
    """

    config: LanguageConfig
    """Static description of the language."""
    toolchain: ClassVar[Toolchain | None] = None
    """Programs that must be installed where code runs; None if every sandbox has them."""
    packages: "ClassVar[Packages | None]" = None
    """Package manager of the language; None for Python, which is installed differently, and for
    languages without one."""
    starts_late: ClassVar[bool] = False
    """Whether the interpreter is started by the first run that needs it instead of at open; False.
    """
    takes_names: ClassVar[bool] = False
    """Whether a program's source file may have a name other than `source_name`; False."""

    def __init__(self, logger: logging.Logger | None = None) -> None:
        self.logger = logger or logging.getLogger("llm_sandbox.language_handlers")

    @property
    def name(self) -> str:
        """Name of the language."""
        return self.config.name

    @property
    def file_extension(self) -> str:
        """Extension of a source file, without the dot."""
        return self.config.file_extension

    @property
    def supported_plot_libraries(self) -> list[PlotLibrary]:
        """Libraries whose figures are captured."""
        detection = self.config.plot_detection
        return list(detection.libraries) if detection else []

    @property
    def is_support_library_installation(self) -> bool:
        """True if libraries can be installed."""
        return self.packages is not None or self.config.is_support_library_installation

    @property
    def is_support_plot_detection(self) -> bool:
        """True if figures are captured."""
        return self.config.plot_detection is not None

    def get_execution_commands(self, code_file: str) -> list[str]:
        """Return the shell commands that run a source file, in order."""
        quoted = shlex.quote(code_file)
        return [command.replace("{file}", quoted) for command in self.config.execution_commands]

    def interpreter(self, shim: str) -> tuple[str, ...] | None:
        """Return the command line of an interpreter that keeps state between runs.

        The interpreter speaks the protocol of `guest.wrapper`. None (default): every run is a
        program of its own.

        Args:
            shim: The handler's folder `shim`, as the sandbox sees it.
        """
        return None

    def is_program(self, code: str) -> bool:
        """Return whether code is a whole program, to be run apart from the interpreter's state;
        False.
        """
        return False

    def source_name(self, code: str) -> str:
        """Return the file name that a program's source must have; ``main`` with the extension."""
        return f"main.{self.file_extension}"

    def plan(self, file: str, shim: str) -> list[Step]:
        """Return the steps that run a source file as a whole program, in order.

        The last step is the program itself: the user's arguments are appended to it.

        Args:
            file: Path of the source file, in a folder used by this run only.
            shim: The handler's folder `shim`, as the sandbox sees it.
        """
        steps = []
        for command in self.get_execution_commands(file):
            needs_shell = _SHELL_CHARACTERS.intersection(command)
            steps.append(
                Step(("sh", "-c", command) if needs_shell else tuple(shlex.split(command)))
            )
        return steps

    def upkeep(self, shim: str) -> Step | None:
        """Return a command to start in the background after a run, to make the next run faster;
        None.

        The command ends with the session at the latest, and is not started again while it runs.

        Args:
            shim: The handler's folder `shim`, as the sandbox sees it.
        """
        return None

    def program_environment(self, shim: str, displays: str) -> dict[str, str]:
        """Return the environment variables to set for programs.

        Args:
            shim: The handler's folder `shim`, as the sandbox sees it.
            displays: Folder for the program's displays: files such as ``0001.png``, shown in the
                order of their names.
        """
        return {}

    def library_environment(self, folder: str) -> dict[str, str]:
        """Return the environment variables by which programs find the libraries installed in a
        folder.
        """
        return {}

    def compile_error(self, output: str, file: str) -> ExecutionError | None:
        """Parse the first error in a compiler's output; None if there is none.

        Args:
            output: Output of the step.
            file: Path of the source file.
        """
        return None

    def runtime_error(self, output: str, file: str) -> ExecutionError | None:
        """Parse the error that ended a whole program; None if the output shows none.

        Args:
            output: End of the program's standard error.
            file: Path of the source file.
        """
        return None

    @property
    def shim_folder(self) -> Path | None:
        """Folder of the host with the shim; None for a language without one."""
        folder = Path(inspect.getfile(type(self))).parent / "shim"
        return folder if folder.is_dir() else None

    def get_library_installation_command(self, library: str) -> str:
        """Return the shell command that installs a library.

        Raises:
            LibraryInstallationNotSupportedError: the language has no package manager here.
            ValidationError: `library` is not the name of a library.
        """
        manager = self.config.package_manager
        if manager is None or not self.is_support_library_installation:
            raise LibraryInstallationNotSupportedError(self.name)
        return f"{manager} {shlex.quote(self.validate_library(library))}"

    def validate_library(self, library: str) -> str:
        """Return `library` in its canonical form, safe to pass to the package manager.

        Raises:
            ValidationError: `library` is not the name of a library.
        """
        if self.packages is not None:
            return self.packages.validate(library)
        if not _matches(_LIBRARY, library):
            raise ValidationError("not the name of a library", parameter="libraries")
        return library

    def inject_plot_detection_code(self, code: str) -> str:
        """Return `code` between the setup and cleanup code of plot capture."""
        detection = self.config.plot_detection
        if detection is None:
            return code
        parts = (detection.setup_code, code, detection.cleanup_code)
        return "\n".join(part for part in parts if part) if code else code

    def extract_plots(self, container: ContainerProtocol, output_dir: str) -> list[PlotOutput]:
        """Return the plot files in a directory of the container, by name; none if it is absent."""
        from llm_sandbox.language_handlers.archive import plots_from_archive

        try:
            content, *_ = container.get_archive(output_dir)
        except FileNotFoundError:
            return []
        return plots_from_archive(content)

    def run_with_artifacts(
        self,
        container: ContainerProtocol,
        code: str,
        libraries: list[str] | None = None,
        enable_plotting: bool = True,
        output_dir: str = "/tmp/sandbox_plots",  # noqa: S108
    ) -> tuple[Any, list[PlotOutput]]:
        """Run code and return its result and its plots.

        Args:
            container: The session, or another object with its `run` and `get_archive` methods.
            code: The code to run.
            libraries: Libraries to install first; None for none.
            enable_plotting: Whether to return plots; if False, the list is empty.
            output_dir: Directory to search for plot files when the result itself has no plots.
        """
        result = container.run(code, libraries)
        if not enable_plotting or not self.is_support_plot_detection:
            return result, []
        if hasattr(result, "plots"):
            return result, list(result.plots)
        return result, self.extract_plots(container, output_dir)

    @abstractmethod
    def get_import_patterns(self, module: str) -> str:
        """Return a regular expression (multi-line mode) that matches an import of `module`."""

    @staticmethod
    @abstractmethod
    def get_multiline_comment_patterns() -> str:
        """Return a regular expression that matches a comment of several lines."""

    @staticmethod
    @abstractmethod
    def get_inline_comment_patterns() -> str:
        """Return a regular expression that matches a comment up to the end of its line."""

    def filter_comments(self, code: str) -> str:
        """Return `code` without comments; every other line stays on its line."""
        for pattern in (self.get_multiline_comment_patterns(), self.get_inline_comment_patterns()):
            code = re.sub(pattern, lambda found: "\n" * found[0].count("\n"), code)
        return code


def _matches(pattern: re.Pattern[str], text: object) -> bool:
    # Names of libraries come from models' tool calls and may be any JSON value.
    return isinstance(text, str) and pattern.fullmatch(text) is not None
