"""Sandbox of one sample: the candidate's code, compiled or loaded once and run for each test."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llm_sandbox.backends.base import Backend
from llm_sandbox.evaluation.limits import EvalLimits
from llm_sandbox.evaluation.runner import CallRun, Run, Runner, TestFile
from llm_sandbox.exceptions import BackendError, SandboxError, ToolchainNotFoundError
from llm_sandbox.language_handlers.base import AbstractLanguageHandler, Step
from llm_sandbox.results.outputs import ExecutionError

__all__ = ["Candidate", "CompileFailed", "SampleRunner"]

_MODULE = "candidate.py"
_SCRIPT = "main.py"
_TRIES = 3


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """Code that is tested, with all that it needs."""

    code: str
    """Source code."""
    handler: AbstractLanguageHandler
    """Handler of its language."""
    setup: str = ""
    """Code that runs before it."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Files in the working directory."""
    limits: EvalLimits
    """Limits of each test."""

    @property
    def is_python(self) -> bool:
        """Whether it runs in forks of a loaded interpreter."""
        return self.handler.name == "python"

    @property
    def program(self) -> bytes:
        """Code as one program."""
        parts = [part for part in (self.setup, self.code) if part]
        return "\n".join(parts).encode("utf-8", "surrogatepass")

    @property
    def seed(self) -> int:
        """Seed of random numbers, the same for the same code."""
        return int.from_bytes(hashlib.sha256(self.program).digest()[:4], "big")


class CompileFailed(Exception):
    """Code that does not compile.

    Attributes:
        run: Run of the compiler.
        error: First error, with its line; None if it is not known.
    """

    def __init__(self, run: Run, error: ExecutionError | None) -> None:
        super().__init__(_words(error))
        self.run = run
        self.error = error


def _words(error: ExecutionError | None) -> str:
    if error is None:
        return "the compiler failed"
    where = f"line {error.line}: " if error.line is not None else ""
    return f"{where}{error.value}"


class SampleRunner:
    """Runs the code of one candidate, in a machine of its own.

    The machine is replaced when a test has left something in it. Used by one thread.

    Args:
        backend: Backend of the machine.
        candidate: The code.
        preload: Libraries that a candidate of Python finds loaded.
    """

    def __init__(self, backend: Backend, candidate: Candidate, preload: Sequence[str] = ()) -> None:
        self.candidate = candidate
        self.machines = 0
        """Number of machines that were made."""
        self._backend = backend
        self._preload = preload if candidate.is_python else ()
        self._runner: Runner | None = None
        self._steps: list[Step] = []
        self._load_run: Run | None = None

    def compile(self) -> Run | None:
        """Compile the code, which happens once; return the compiler's run, None without one.

        Raises:
            CompileFailed: It does not compile.
            SandboxError: The sandbox failed.
        """
        self._ready()
        return None

    def program(
        self,
        stdin: bytes = b"",
        args: Sequence[str] = (),
        files: Mapping[str, bytes] | None = None,
        *,
        fetch: Sequence[str] = (),
        argv: Sequence[str] | None = None,
    ) -> Run:
        """Run the candidate as a program.

        Args:
            stdin: Standard input.
            args: Arguments.
            files: Further files in the working directory.
            fetch: Paths of files to read after the run.
            argv: Another command beside the candidate's files; None for the candidate.

        Raises:
            CompileFailed: It does not compile.
            SandboxError: The sandbox failed.
        """
        runner = self._ready()
        given = {path: TestFile(data) for path, data in (files or {}).items()}
        candidate = self.candidate
        if argv is None and candidate.is_python:
            return runner.program(
                args, script=_SCRIPT, stdin=stdin, files=given, fetch=fetch, seed=candidate.seed
            )
        command = [*self._steps[-1].argv, *args] if argv is None else argv
        run = runner.program(
            command,
            stdin=stdin,
            files=given,
            fetch=fetch,
            has_deep_stack=argv is None and len(self._steps) > 1,
        )
        if argv is None:
            self._check_started(run, command)
        return run

    def load(self) -> Run:
        """Load the candidate as a module of Python, which happens once.

        Raises:
            SandboxError: The sandbox failed.
        """
        runner = self._ready()
        if self._load_run is None or not runner.is_loaded:
            candidate = self.candidate
            self._load_run = runner.load(
                candidate.code.encode("utf-8", "surrogatepass"),
                candidate.setup.encode("utf-8", "surrogatepass"),
                path=_MODULE,
                seed=candidate.seed,
            )
        return self._load_run

    def call(
        self,
        function: str,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        *,
        inline: bool = False,
    ) -> CallRun | Run:
        """Call a function of the candidate.

        Args:
            function: Its name; see `CallTest`.
            args: Positional arguments.
            kwargs: Keyword arguments.
            inline: Whether tests run beside the candidate; see `Runner.call`.

        Returns:
            The call; the run of the module if that did not load.

        Raises:
            SandboxError: The sandbox failed.
            ValueNotTransferableError: An argument is no plain data, array or table.
        """
        loaded = self.load()
        runner = self._ready()
        if not runner.is_loaded:
            return loaded
        return runner.call(function, args, kwargs or {}, inline=inline)

    def call_encoded(
        self, function: str, parts: Sequence[bytes]
    ) -> tuple[CallRun, list[bytes]] | Run:
        """Call a function with encoded arguments; see `Runner.call_encoded`.

        Returns:
            The call and its value with the arguments as they are then; the run of the module if
            that did not load.
        """
        loaded = self.load()
        runner = self._ready()
        if not runner.is_loaded:
            return loaded
        return runner.call_encoded(function, parts, with_arguments=True)

    def judge(
        self,
        source: str,
        setup: str,
        entry_point: str | None,
        answer: Callable[[str, list[bytes]], tuple[CallRun, list[bytes]] | None],
    ) -> tuple[Run, Mapping[str, Any] | None]:
        """Run assertions about another sandbox's candidate; see `Runner.judge`."""
        return self._ready().judge(source, setup, entry_point, answer)

    def begin_dialogue(
        self, args: Sequence[str] = (), files: Mapping[str, bytes] | None = None
    ) -> Runner:
        """Start the candidate as a program that talks with another one.

        Args:
            args: Arguments.
            files: Further files in the working directory.

        Raises:
            CompileFailed: It does not compile.
            SandboxError: The sandbox failed.
        """
        runner = self._ready()
        given = {path: TestFile(data) for path, data in (files or {}).items()}
        if self.candidate.is_python:
            seed = self.candidate.seed
            runner.begin_dialogue(args, script=_SCRIPT, files=given, seed=seed)
        else:
            runner.begin_dialogue([*self._steps[-1].argv, *args], files=given)
        return runner

    def close(self) -> None:
        """End the sandbox."""
        runner, self._runner = self._runner, None
        if runner is not None:
            runner.close()

    # --- the machine

    def _ready(self) -> Runner:
        """Return the runner of a clean machine, in which the code is compiled."""
        if self._runner is not None and self._runner.is_clean:
            return self._runner
        self.close()
        for attempt in range(_TRIES):
            try:
                self._runner = self._make()
                return self._runner
            except SandboxError as error:
                if attempt == _TRIES - 1 or not getattr(error, "retryable", False):
                    raise
        raise BackendError("no sandbox could be made", op="evaluate")

    def _make(self) -> Runner:
        candidate = self.candidate
        backend = self._backend.for_language(candidate.handler.name)
        runner = Runner(backend, candidate.limits, self._preload)
        self.machines += 1
        self._load_run = None
        try:
            files = {path: TestFile(data) for path, data in candidate.files.items()}
            if candidate.is_python:
                files[_SCRIPT] = TestFile(candidate.program)
                runner.setup(_VARIABLES, files)
            else:
                self._compile(runner, files)
        except BaseException:
            runner.close()
            raise
        return runner

    def _compile(self, runner: Runner, files: dict[str, TestFile]) -> None:
        candidate, handler = self.candidate, self.candidate.handler
        name = handler.source_name(candidate.program.decode("utf-8", "replace"))
        path = f"{runner.workdir}/{name}"
        shim = runner.language_folder(handler.name)
        self._steps = handler.plan(path, shim)
        environment = {**_VARIABLES, **handler.program_environment(shim, "")}
        for step in self._steps:
            environment.update(step.env)
        runner.setup(environment, {**files, name: TestFile(candidate.program)})
        for step in self._steps:
            if not step.compiles:
                continue
            run = runner.compile(step.argv)
            self._check_started(run, step.argv)
            if run.exit_code != 0:
                output = (run.stdout + run.stderr).decode("utf-8", "replace")
                raise CompileFailed(run, handler.compile_error(output, path))

    def _check_started(self, run: Run, argv: Sequence[str]) -> None:
        """Raise an error if a program of the language could not be started."""
        if run.start_error is not None:
            raise ToolchainNotFoundError(
                self.candidate.handler.name,
                [argv[0]],
                "in the sandbox",
                backend=self._backend.name,
                hint="see `llm-sandbox doctor`",
            )


_VARIABLES = {
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    # A plug-in of the environment takes no part in tests.
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    # Tests run beside each other, one for each core.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
