"""Checks of `llm-sandbox doctor`: backends, engines, languages, libraries and settings."""

import os
import platform
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib import metadata
from importlib.util import find_spec
from typing import Any

from llm_sandbox import __version__
from llm_sandbox.backends.base import Backend, Isolation
from llm_sandbox.backends.engine_probe import permission_hint, probe_engine
from llm_sandbox.backends.host_root import SEARCH_PATH
from llm_sandbox.backends.registry import available_names, get_backend
from llm_sandbox.const import SandboxBackend, SupportedLanguage
from llm_sandbox.exceptions import (
    BackendUnavailableError,
    SandboxError,
    ValidationError,
)
from llm_sandbox.host.distribution import namesake_version
from llm_sandbox.host.paths import system_name
from llm_sandbox.language_handlers import registry
from llm_sandbox.settings import Settings, get_settings, settings_file
from llm_sandbox.settings.sources import CONFIG, unknown_variables

__all__ = [
    "BackendFinding",
    "Findings",
    "LanguageFinding",
    "SettingsFinding",
    "check_settings",
    "examine",
]

_VERSION_ARGUMENTS = {"go": "version"}
"""Argument that prints the version of a program, where it is not ``--version``."""
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_VERSION_TIMEOUT_S = 10.0
_PROGRAMS_AT_ONCE = 4
_LANG = "python"
_LIBRARIES = ("ipykernel", "matplotlib", "matplotlib-inline", "numpy", "pandas", "seaborn", "pip")
_ANALYSIS = ("scipy", "scikit-learn", "statsmodels", "plotly", "sympy", "openpyxl", "pyarrow")
_MODULES = {"scikit-learn": "sklearn"}
_ON_DOCKER = (SandboxBackend.DOCKER, SandboxBackend.MICROMAMBA)
_ENGINES = (SandboxBackend.DOCKER, SandboxBackend.PODMAN)
_ENGINE_TIMEOUT_S = 3.0
_START_HINT = "start it (systemctl start docker), or name one by DOCKER_HOST"


@dataclass(frozen=True)
class SettingsFinding:
    """Finding about the settings."""

    file: str
    """Path of the settings file, which may not exist."""
    file_is_there: bool
    values: dict[str, str | int | None]
    """Values by name; empty when a value is invalid."""
    origins: dict[str, str]
    """Origin by name: a variable, a file, or ``default``."""
    unknown: list[str]
    """Variables with the prefix of settings that name no setting."""
    problem: str | None = None
    """Error message of an invalid setting."""


def check_settings() -> SettingsFinding:
    """Read the settings as a session does."""
    path = os.environ.get(CONFIG) or str(settings_file(os.environ))
    is_there = os.path.exists(path)  # noqa: PTH110 - also where the folder may not be read
    unknown = unknown_variables(os.environ, Settings.names())
    try:
        settings = get_settings()
    except ValidationError as error:
        hint = f" ({error.hint})" if error.hint else ""
        return SettingsFinding(path, is_there, {}, {}, unknown, error.message + hint)
    values = {name: _plain(getattr(settings, name)) for name in Settings.names()}
    return SettingsFinding(path, is_there, values, dict(settings.origins), unknown)


def _plain(value: object) -> str | int | None:
    return value if value is None or isinstance(value, int) else str(value)


@dataclass(frozen=True)
class LanguageFinding:
    """Finding about one language."""

    name: str
    works: bool
    """Whether sandboxes that use this computer's programs can run the language."""
    keeps_state: bool | None = None
    """Whether a session keeps variables; None when the language cannot be loaded."""
    programs: dict[str, str | None] = field(default_factory=dict)
    """Version of each program that runs it: empty when the program does not print one, None when it
    is missing.
    """
    image: str | None = None
    """The image of its container sessions; None when this version brings none."""
    engines: list[str] = field(default_factory=list)
    """The engines that have that image."""
    problem: str | None = None
    hint: str | None = None
    """Command that installs what is missing."""


def _check_languages(engines: Collection[str]) -> list[LanguageFinding]:
    """Look for the programs and images of every language.

    Args:
        engines: Names of the backends whose engines answer.
    """
    names = registry.available()
    with ThreadPoolExecutor(_PROGRAMS_AT_ONCE) as pool:
        # Some programs take half a second to say who they are.
        return list(pool.map(lambda name: _check_language(name, engines), names))


def _check_language(name: str, engines: Collection[str]) -> LanguageFinding:
    try:
        handler = registry.load(name)()
        needs = handler.toolchain
        keeps_state = needs is None or handler.interpreter("") is not None
    except SandboxError as error:
        return LanguageFinding(name, works=False, problem=error.message, hint=error.hint)
    except Exception as error:  # noqa: BLE001 - a language from another package may do anything
        return LanguageFinding(name, works=False, problem=f"{type(error).__name__}: {error}")
    programs = {program: _version(program) for program in needs.programs} if needs else {}
    if name == SupportedLanguage.PYTHON:
        programs = {"python": platform.python_version()}
    works = None not in programs.values()
    hint = None
    if needs is not None and not works:
        hint = f"apt-get install {' '.join(needs.packages)}"
    image, having = _find_image(name, engines)
    return LanguageFinding(name, works, keeps_state, programs, image, having, hint=hint)


def _version(program: str) -> str | None:
    path = shutil.which(program, path=SEARCH_PATH)
    if path is None:
        return None
    try:
        done = subprocess.run(
            [path, _VERSION_ARGUMENTS.get(program, "--version")],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_VERSION_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = _VERSION.search(done.stdout)
    return found[0] if found and done.returncode == 0 else ""


def _find_image(name: str, engines: Collection[str]) -> tuple[str | None, list[str]]:
    from llm_sandbox.backends.recipes import (
        image_name,
        recipe_name,
        recipe_names,
    )

    if recipe_name(name) not in recipe_names():
        return None, []
    image = image_name(name)
    having = []
    for engine in engines:
        try:
            if get_backend(engine).images.find(image) is not None:
                having.append(engine)
        except SandboxError:
            continue  # the table of backends says what is wrong with it
    return image, having


@dataclass(frozen=True)
class BackendFinding:
    """Finding about one backend."""

    name: str
    works: bool
    level: str | None = None
    """Strength of the isolation; None when the backend does not work here."""
    controls: dict[str, dict[str, str]] | None = None
    """By resource: the state of the control, and the mechanism."""
    problem: str | None = None
    hint: str | None = None
    """Remedy for the problem, or for a missing image."""
    engine: str | None = None
    """Container engine with its version and address; None when the backend needs none, or none
    answers.
    """
    image: str | None = None
    """Image of its sessions; None when the backend has no images."""
    has_image: bool | None = None
    """Whether the engine has that image; None when the backend has no images."""

    @property
    def isolates(self) -> bool:
        """Whether the backend works and isolates."""
        return self.works and self.level != "none"


@dataclass(frozen=True)
class Findings:
    """All findings about this computer."""

    version: str
    python: dict[str, str]
    libraries: dict[str, str | None]
    """Version of each library that sessions use; None when it cannot be imported."""
    analysis: dict[str, str | None]
    """Version of each library of the extra ``science``; None when it cannot be imported."""
    bwrap: dict[str, Any]
    backends: list[BackendFinding]
    languages: list[LanguageFinding]
    default_backend: str | None
    """Backend that is used when none is named; None when nothing here isolates."""
    default_reason: str
    settings: SettingsFinding
    namesake: str | None
    """Version of the other project with this import name; None when it is not installed."""

    @property
    def healthy(self) -> bool:
        """Whether the default backend works and isolates."""
        chosen = [found for found in self.backends if found.name == self.default_backend]
        return any(finding.isolates for finding in chosen)


def _describe_engine(backend: Backend) -> dict[str, Any]:
    """Return the fields of a `BackendFinding` that describe an engine; empty for a backend without
    one.

    Args:
        backend: A backend that works here.

    Raises:
        BackendUnavailableError: The engine does not answer any more.
    """
    engine = backend.describe_engine()
    if not backend.has_containers:
        return {} if engine is None else {"engine": engine}
    from llm_sandbox.backends.recipes import image_name

    named = None if backend.options is None else backend.options.image
    image = named or image_name(_LANG)
    has_image = backend.images.find(image) is not None
    engine = engine or backend.name
    # Of another name than the backend, where several backends share an engine.
    program = engine.partition(" ")[0]
    get = f"{program} pull {image}" if named else _build(program)
    return {
        "engine": engine,
        "image": image,
        "has_image": has_image,
        "hint": None if has_image else get,
    }


def _build(engine: str) -> str:
    return f"llm-sandbox images build {_LANG} --engine {engine}"


def examine() -> Findings:
    """Try every backend, and check the environment."""
    names = list(dict.fromkeys([*map(str, SandboxBackend), *available_names()]))
    default, reason = _default_backend()
    backends = [_try_backend(name) for name in names]
    engines = [found.name for found in backends if found.works and found.name in _ENGINES]
    return Findings(
        version=__version__,
        python={
            "version": platform.python_version(),
            "executable": sys.executable,
            "system": f"{platform.system()} {platform.release()} {platform.machine()}",
            "user": str(os.geteuid()),
        },
        libraries={name: _library_version(name) for name in _LIBRARIES},
        analysis={name: _library_version(name, _MODULES.get(name)) for name in _ANALYSIS},
        bwrap=_bwrap(),
        backends=backends,
        languages=_check_languages(engines),
        default_backend=default,
        default_reason=reason,
        settings=check_settings(),
        namesake=namesake_version(),
    )


def _try_backend(name: str) -> BackendFinding:
    engine: dict[str, Any] = {}
    try:
        if name in _ON_DOCKER:
            # Its client waits a minute for an engine that does not answer.
            _require_docker(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `local` warns of itself; the table says the same
            backend = get_backend(name)
            isolation: Isolation = backend.check()
            engine = _describe_engine(backend)
    except SandboxError as error:
        return BackendFinding(name, works=False, problem=error.message, hint=error.hint)
    except Exception as error:  # noqa: BLE001 - a backend from another package may do anything
        return BackendFinding(name, works=False, problem=f"{type(error).__name__}: {error}")
    controls = isolation.to_dict()["controls"]
    return BackendFinding(name, works=True, level=isolation.level, controls=controls, **engine)


def _require_docker(name: str) -> None:
    finding = probe_engine(SandboxBackend.DOCKER, "none", _ENGINE_TIMEOUT_S)
    if not finding.answers:
        raise BackendUnavailableError(
            f"no docker engine answers at {finding.address}: {finding.problem}",
            backend=name,
            hint=permission_hint("docker", finding.problem, _START_HINT),
        )


def _default_backend() -> tuple[str | None, str]:
    from llm_sandbox.backends.selection import choose

    try:
        backend, reason = choose()
    except SandboxError as error:
        return None, error.message
    return backend.name, reason


def _library_version(name: str, module: str | None = None) -> str | None:
    if find_spec(module or name.replace("-", "_")) is None:
        return None
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "unknown version"


def _bwrap() -> dict[str, Any]:
    if system_name() != "Linux":
        return {"problem": f"bubblewrap needs Linux, and this is {system_name()}", "hint": None}
    from llm_sandbox.backends.bubblewrap.binary import find_bwrap
    from llm_sandbox.settings import get_settings

    try:
        found = find_bwrap(get_settings().bwrap)
    except SandboxError as error:
        return {"problem": error.message, "hint": error.hint}
    version = ".".join(map(str, found.version))
    return {"path": str(found.path), "version": version, "from_wheel": found.from_wheel}
