"""`llm-sandbox doctor`: what works on this machine, how strongly, and what to type for the rest."""

import json
import os
import platform
import sys
import warnings
from dataclasses import asdict
from importlib import metadata
from importlib.util import find_spec
from typing import Any

from llm_sandbox import __version__
from llm_sandbox.backends.base import Isolation
from llm_sandbox.backends.engine_probe import permission_hint, probe_engine
from llm_sandbox.backends.registry import available_names, get_backend
from llm_sandbox.cli.doctor_report import print_findings
from llm_sandbox.cli.engines import look_at_engine
from llm_sandbox.cli.findings import BackendFinding, Findings
from llm_sandbox.cli.languages import look_at_languages
from llm_sandbox.cli.render import Progress
from llm_sandbox.cli.settings import look_at_settings
from llm_sandbox.const import SandboxBackend
from llm_sandbox.exceptions import (
    BackendUnavailableError,
    SandboxError,
    UnsupportedBackendError,
)
from llm_sandbox.host.distribution import namesake_version
from llm_sandbox.host.paths import system_name

__all__ = ["examine", "main"]

_LIBRARIES = ("ipykernel", "matplotlib", "matplotlib-inline", "numpy", "pandas", "seaborn", "pip")

_ANALYSIS = ("scipy", "scikit-learn", "statsmodels", "plotly", "sympy", "openpyxl", "pyarrow")
_MODULES = {"scikit-learn": "sklearn"}

_ON_DOCKER = (SandboxBackend.DOCKER, SandboxBackend.MICROMAMBA)
_ENGINES = (SandboxBackend.DOCKER, SandboxBackend.PODMAN)
_PATIENCE_S = 3.0
_START = "start it (systemctl start docker), or name one by DOCKER_HOST"


def main(*, as_json: bool, verbose: bool = False) -> int:
    """Print the findings and return the exit code."""
    with Progress("looking at this machine"):
        findings = examine()
    if as_json:
        print(json.dumps({"healthy": findings.healthy, **asdict(findings)}, indent=2))
    else:
        print_findings(findings, verbose=verbose)
    return 0 if findings.healthy else 1


def examine() -> Findings:
    """Try every backend, and look at the environment."""
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
        languages=look_at_languages(engines),
        default_backend=default,
        default_reason=reason,
        settings=look_at_settings(),
        namesake=namesake_version(),
    )


def _try_backend(name: str) -> BackendFinding:
    facts: dict[str, Any] = {}
    try:
        if name in _ON_DOCKER:
            # Its client waits a minute for an engine that does not answer.
            _require_docker(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `local` warns of itself; the table says the same
            backend = get_backend(name)
            isolation: Isolation = backend.check()
            facts = look_at_engine(backend)
    except UnsupportedBackendError:
        problem = "not in this version of llm-sandbox"
        return BackendFinding(name, works=False, problem=problem, hint="use --backend bubblewrap")
    except SandboxError as error:
        return BackendFinding(name, works=False, problem=error.message, hint=error.hint)
    except Exception as error:  # noqa: BLE001 - a backend from another package may do anything
        return BackendFinding(name, works=False, problem=f"{type(error).__name__}: {error}")
    controls = isolation.to_dict()["controls"]
    return BackendFinding(name, works=True, level=isolation.level, controls=controls, **facts)


def _require_docker(name: str) -> None:
    finding = probe_engine(SandboxBackend.DOCKER, "none", _PATIENCE_S)
    if not finding.answers:
        raise BackendUnavailableError(
            f"no docker engine answers at {finding.address}: {finding.problem}",
            backend=name,
            hint=permission_hint("docker", finding.problem, _START),
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
