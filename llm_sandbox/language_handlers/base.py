"""The contract of a language handler: how one language is run, installed, scanned and captured."""

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
    """How the figures of a language are captured."""

    libraries: list[PlotLibrary]
    """Libraries whose figures are captured."""
    setup_code: str = ""
    """Code run before the user's; empty (default) where capture needs none."""
    cleanup_code: str = ""
    """Code run after the user's; empty (default) where capture needs none."""


@dataclass(slots=True)
class LanguageConfig:
    """What there is to know about a language."""

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
    """How figures are captured; None (default) when they are not."""


@dataclass(frozen=True, slots=True)
class Step:
    """One program of those that run a source file."""

    argv: tuple[str, ...]
    """The program and its arguments."""
    compiles: bool = False
    """Whether it only prepares: what it writes is a compiler's words, and if it fails the code has
    not run; False."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables that it gets besides; none."""


@runtime_checkable
class ContainerProtocol(Protocol):
    """What a handler needs of a session."""

    def execute_command(self, command: str, workdir: str | None = None) -> Any:
        """Run a shell command and return its `ConsoleOutput`."""

    def get_archive(self, path: str) -> tuple[Any, ...]:
        """Return a tar archive of `path` (bytes, or an iterable of bytes) and its stat."""

    def run(self, code: str, libraries: list[str] | None = None) -> Any:
        """Run code and return its result."""


class AbstractLanguageHandler(ABC):
    """Base of all handlers; a subclass sets `config` and answers the abstract methods.

    Args:
        logger: Where the handler reports; None for the library's own logger.
    """

    config: LanguageConfig
    """What there is to know about the language."""
    toolchain: ClassVar[Toolchain | None] = None
    """What has to be installed where code runs; None for what every sandbox has."""
    packages: "ClassVar[Packages | None]" = None
    """How libraries are installed; None for Python, which has its own way, and without any."""
    starts_late: ClassVar[bool] = False
    """Whether the interpreter is started by the first run that needs it, and not at open; False."""
    takes_names: ClassVar[bool] = False
    """Whether a program's file may have another name than `source_name`; False."""

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
        """Whether libraries can be installed."""
        return self.packages is not None or self.config.is_support_library_installation

    @property
    def is_support_plot_detection(self) -> bool:
        """Whether figures are captured."""
        return self.config.plot_detection is not None

    def get_execution_commands(self, code_file: str) -> list[str]:
        """Return the shell commands that run a source file, in order."""
        quoted = shlex.quote(code_file)
        return [command.replace("{file}", quoted) for command in self.config.execution_commands]

    def interpreter(self, shim: str) -> tuple[str, ...] | None:
        """Return the command line of an interpreter that keeps state from run to run.

        It speaks the messages of `guest.wrapper`. None (default): every run is a program.

        Args:
            shim: The handler's folder `shim`, as the sandbox sees it.
        """
        return None

    def is_program(self, code: str) -> bool:
        """Whether code is a whole program, run apart from the interpreter's state; False."""
        return False

    def source_name(self, code: str) -> str:
        """Return the name that a program's source file must have; ``main`` with the extension."""
        return f"main.{self.file_extension}"

    def plan(self, file: str, shim: str) -> list[Step]:
        """Return what runs a source file as a whole program, in order.

        The last step is the program itself: its arguments are put after it.

        Args:
            file: Its path, in a folder that is this run's alone.
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
        """Return what is started after a run and left to itself, to make the next run faster; None.

        It outlives no session, and is not started again while it runs.

        Args:
            shim: The handler's folder `shim`, as the sandbox sees it.
        """
        return None

    def program_environment(self, shim: str, displays: str) -> dict[str, str]:
        """Return the variables that programs get besides.

        Args:
            shim: The handler's folder `shim`, as the sandbox sees it.
            displays: A folder for what the program shows: files such as ``0001.png``, which are
                shown in the order of their names.
        """
        return {}

    def library_environment(self, folder: str) -> dict[str, str]:
        """Return the variables by which programs find the libraries installed in a folder."""
        return {}

    def compile_error(self, output: str, file: str) -> ExecutionError | None:
        """Read the first error in a compiler's words; None where there is none.

        Args:
            output: What the step wrote.
            file: The source file's path.
        """
        return None

    def runtime_error(self, output: str, file: str) -> ExecutionError | None:
        """Read how a whole program says that it failed; None where it does not.

        Args:
            output: The end of its standard error.
            file: The source file's path.
        """
        return None

    @property
    def shim_folder(self) -> Path | None:
        """The folder of this computer that `shim` stands for; None for a language without one."""
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
        """Return `library` in its canonical form, safe to hand to the package manager.

        Raises:
            ValidationError: `library` is not the name of a library.
        """
        if self.packages is not None:
            return self.packages.validate(library)
        if not _matches(_LIBRARY, library):
            raise ValidationError("not the name of a library", parameter="libraries")
        return library

    def inject_plot_detection_code(self, code: str) -> str:
        """Return `code` between the set-up and clean-up code of plot capture."""
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
            container: The session, or anything that can run code and hand out archives.
            code: The code to run.
            libraries: Libraries to install before; None for none.
            enable_plotting: Whether plots are wanted; without, the list is empty.
            output_dir: Where to look for plot files when the result itself carries no plots.
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
