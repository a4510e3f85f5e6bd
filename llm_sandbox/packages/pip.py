"""Installation by pip, step by step, on the host or in a sandbox."""

import json
import os
import re
import secrets
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from packaging.utils import canonicalize_name

from llm_sandbox.exceptions import LibraryInstallationError
from llm_sandbox.host.terminal import strip_controls
from llm_sandbox.limits import Deadline
from llm_sandbox.packages.distribution_names import suggest
from llm_sandbox.packages.processes import ProcessRunner, RunningProcess
from llm_sandbox.packages.target_python import TargetPython, read_name, read_version, same_version

__all__ = ["PipEnvironment", "PipRunner", "Progress", "RunningProcess"]

Progress = Callable[[str], None]

_LARGEST_REPORT = 16 << 20
_MOST_WHEELS = 1000
_MOST_RESOLUTIONS = 4
_UNREACHABLE = re.compile(
    r"name resolution|Name or service not known|Failed to establish a new connection"
    r"|ConnectionError|ConnectTimeout|Connection refused|Network is unreachable|ProxyError"
    r"|timed out",
    re.IGNORECASE,
)
_BLAMED = re.compile(r"\(constraint\) ([A-Za-z0-9._-]+)")
# pip's own byte code holds times of writing; this one depends on the sources only.
_COMPILE = """
import compileall, os, shutil, sys
from py_compile import PycInvalidationMode
for folder, names, _ in os.walk(sys.argv[1]):
    if '__pycache__' in names:
        names.remove('__pycache__')
        shutil.rmtree(os.path.join(folder, '__pycache__'))
if sys.argv[2] == 'compile':
    compileall.compile_dir(sys.argv[1], quiet=2, force=True, stripdir=sys.argv[1],
        invalidation_mode=PycInvalidationMode.UNCHECKED_HASH)
"""
# pip chooses files by its options, but judges the conditions of requirements by the Python that it
# runs in, and writes the path of that one into programs.
_PIP_FOR_ANOTHER = """
import json, sys
about = json.loads(sys.argv[1])
from pip._vendor.packaging import markers
markers.default_environment = lambda: dict(about['markers'])
from pip._internal.cli.main import main
sys.executable = about['executable']
sys.argv[:2] = ['pip']
sys.exit(main())
"""


@dataclass(frozen=True)
class PipEnvironment:
    """Environment of pip: the path of the folder there, and a function that starts programs."""

    folder: str
    python: str
    env: Mapping[str, str]
    start: Callable[[Sequence[str], Mapping[str, str], float | None], RunningProcess]


class PipRunner:
    """Runner of the steps of an installation by pip.

    Args:
        place: Environment of pip.
        staging: The same folder, on the host.
        specs: Requirements.
        deadline: Deadline of the installation.
        progress: Callback with a description of each step.
        target: The Python to install for; None for the one that runs pip.
    """

    def __init__(
        self,
        place: PipEnvironment,
        staging: Path,
        specs: Sequence[str],
        deadline: Deadline,
        progress: Progress,
        target: TargetPython | None = None,
    ) -> None:
        self._place = place
        self._target = target
        self._staging = staging
        self._specs = specs
        self._progress = progress
        self._tools = ProcessRunner(staging, specs, deadline)

    def run(self) -> None:
        """Install into the folder's `site`; compile it, unless only the target's Python can.

        Raises:
            LibraryInstallationError: The installation failed; the error has pip's own output.
            SandboxTimeoutError: The deadline passed.
        """
        site = f"{self._place.folder}/site"
        self._progress(f"resolving {' '.join(self._specs)}")
        pins = self._resolve() if self._target is None else self._resolve_for(self._target)
        if not pins:
            return
        self._progress(f"installing {' '.join(pins)}")
        self._pip("--no-deps", "--no-compile", "--target", site, "--", *pins)
        compiles = self._target is None or self._target.compiles_here
        if compiles:
            self._progress("compiling")
        # What does not compile is a template, or for another Python: its import says so.
        self._python("-c", _COMPILE, site, "compile" if compiles else "clean")

    def _resolve(self) -> list[str]:
        self._pip("--dry-run", "--report", self._report, "--", *self._specs)
        return self._read_pins()

    def _resolve_for(self, target: TargetPython) -> list[str]:
        """Resolve the additions to an image's packages, which keep their versions if possible."""
        kept = target.constraints()
        # No folder of that name is made: this run installs nothing.
        nowhere = ("--target", f"{self._place.folder}/nowhere")
        for attempt in range(_MOST_RESOLUTIONS):
            chosen = self._constrain(kept) if kept else ()
            code, output = self._run_pip(
                *("--dry-run", *nowhere, "--report", self._report, *chosen, "--", *self._specs),
                quiet=not kept,  # only a talking pip says which constraints it could not keep
            )
            if not code:
                break
            if not kept or "ResolutionImpossible" not in output:
                raise self._failure(output, f"pip ended with exit status {code}")
            blamed = {canonicalize_name(name) for name in _BLAMED.findall(output)} & kept.keys()
            if not blamed or attempt == _MOST_RESOLUTIONS - 2:
                kept = {}
            kept = {name: wanted for name, wanted in kept.items() if name not in blamed}
        has = target.distributions
        pins = (pin.split("==") for pin in self._read_pins())
        return [
            f"{name}=={version}"
            for name, version in pins
            if name not in has or not same_version(has[name], version)
        ]

    def _constrain(self, kept: Mapping[str, str]) -> tuple[str, str]:
        name = f"constraints-{secrets.token_hex(4)}.txt"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with os.fdopen(os.open(self._staging / name, flags, 0o644), "w") as file:
            os.fchmod(file.fileno(), 0o644)  # the sandbox's user is not root
            file.write("".join(f"{line}\n" for line in sorted(kept.values())))
        return "--constraint", f"{self._place.folder}/{name}"

    @property
    def _report(self) -> str:
        return f"{self._place.folder}/report.json"

    def _pip(self, *arguments: str) -> None:
        code, output = self._run_pip(*arguments)
        if code:
            raise self._failure(output, f"pip ended with exit status {code}")

    def _run_pip(self, *arguments: str, quiet: bool = True) -> tuple[int, str]:
        target = self._target
        program: tuple[str, ...] = ("-m", "pip")
        options = ["--no-input", "--no-color", "--disable-pip-version-check"]
        options += ["--quiet"] if quiet else ["--progress-bar", "off"]
        options += ["--only-binary", ":all:"]
        if target is not None:
            about = {"markers": target.markers(), "executable": target.executable}
            program = ("-c", _PIP_FOR_ANOTHER, json.dumps(about))
            options += target.options()
        return self._python(*program, "install", *options, *arguments)

    def _python(self, *arguments: str) -> tuple[int, str]:
        place = self._place
        argv = [place.python, "-P", *arguments]
        return self._tools.run(lambda left: place.start(argv, place.env, left))

    def _read_pins(self) -> list[str]:
        """Return the packages that the first run would install, as exact requirements."""
        try:
            # trust: written inside; neither followed as a link nor believed.
            fd = os.open(self._staging / "report.json", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(fd, "rb") as file:
                if not stat.S_ISREG(os.fstat(fd).st_mode):
                    raise ValueError("not a file")
                text = file.read(_LARGEST_REPORT + 1)
            if len(text) > _LARGEST_REPORT:
                raise ValueError("too long")
            entries = json.loads(text)["install"]
            if not isinstance(entries, list) or len(entries) > _MOST_WHEELS:
                raise ValueError("too many")
            return sorted(map(_read_pin, entries))
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            raise self._failure(
                "", f"pip's report is not acceptable ({strip_controls(str(error))})"
            ) from None

    def _failure(self, output: str, otherwise: str) -> LibraryInstallationError:
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR:")] or lines[-1:]
        reason = errors[-1].removeprefix("ERROR:").strip()[:500] if errors else otherwise
        hint = None
        if "No module named pip" in output:
            hint = "python -m ensurepip, in the environment that runs this program"
        elif "Permission denied" in output and os.geteuid() == 0:
            hint = "root's sandboxes read as another user: make the packages readable for all"
        elif _UNREACHABLE.search(output):
            hint = "the package index could not be reached: check the network, or pip config list"
        elif "No matching distribution" in output:
            hint = suggest(self._specs)
        return LibraryInstallationError(
            f"{', '.join(self._specs)} could not be installed: {reason}",
            packages=self._specs,
            output=output,
            op="install",
            hint=hint,
        )


def _read_pin(entry: Any) -> str:
    name = read_name(entry["metadata"]["name"])
    version = read_version(entry["metadata"]["version"])
    file = unquote(urlsplit(entry["download_info"]["url"]).path).split("/")[-1]
    # trust: `parse_wheel_filename` makes every combination of tags, 17,576 for 241 characters.
    if not file.endswith(".whl") or canonicalize_name(file.partition("-")[0]) != name:
        raise ValueError(f"{name} does not come from a wheel of that name")
    return f"{name}=={version}"
