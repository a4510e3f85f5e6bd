"""Python environment of this process as seen in a private root: read-only, at paths that reveal no
host folder.
"""

import os
import site
import sys
import sysconfig
from dataclasses import dataclass, field
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path

__all__ = [
    "ENVIRONMENT_ROOT",
    "FORKABLE",
    "GUEST_ROOT",
    "LAYERS_ROOT",
    "PACKAGE",
    "PYTHON_ROOT",
    "PythonEnvironment",
    "compile_guest",
    "current",
    "module_command",
    "shims",
]

PYTHON_ROOT = "/opt/python"
ENVIRONMENT_ROOT = "/opt/env"
GUEST_ROOT = "/opt/llm_sandbox"
LAYERS_ROOT = "/opt/layers"

FORKABLE = {
    "OPENBLAS_NUM_THREADS": "1",
    # Both for pyarrow, which pandas loads where it is installed.
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
"""Variables of a zygote: libraries start no threads when they are loaded, as a lock that a thread
holds during a fork is held in the fork for ever; and they reserve no memory, which would count
against the limit of every fork."""

PACKAGE = Path(__file__).resolve().parent.parent
"""The folder of the package `llm_sandbox`."""


def shims() -> dict[str, Path]:
    """Return the code that runs inside for each language beside Python: name to folder."""
    folders = sorted((PACKAGE / "language_handlers").glob("*/shim"))
    return {path.parent.name: path for path in folders if path.parent.name != "python"}


@dataclass(frozen=True)
class PythonEnvironment:
    """Interpreter of this process as it appears in a private root.

    Attributes:
        executable: The interpreter's path inside.
        binds: Host folder to path inside, all read-only.
        links: Path inside to what it links to.
        files: Path inside to text.
        library_path: Value for LD_LIBRARY_PATH, empty for none.
    """

    executable: str
    binds: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    library_path: str = ""

    @property
    def bin(self) -> str:
        """The folder of the interpreter inside."""
        return os.path.dirname(self.executable)


@cache
def current() -> PythonEnvironment:
    """Describe the environment of this process.

    An interpreter below /usr stays where it is; any other appears at /opt/python. Packages of a
    virtual environment, or of the user's own site directory, appear as a virtual environment at
    /opt/env. Editable installs, which are links to other folders, are not part of it.
    """
    base = os.path.realpath(sys.base_prefix)
    real = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
    in_usr = base == "/usr" or base.startswith("/usr/")
    binds: dict[str, str] = {}
    library_path = ""
    if in_usr:
        base_executable = real
    else:
        binds[base] = PYTHON_ROOT
        base_executable = os.path.join(PYTHON_ROOT, os.path.relpath(real, base))
        if sysconfig.get_config_var("Py_ENABLE_SHARED"):
            library_path = f"{PYTHON_ROOT}/lib"
    packages, system_site = _extra_packages()
    if packages is None:
        return PythonEnvironment(base_executable, binds, library_path=library_path)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    binds[packages] = f"{ENVIRONMENT_ROOT}/lib/python{version}/site-packages"
    configuration = (
        f"home = {os.path.dirname(base_executable)}\n"
        f"include-system-site-packages = {str(system_site).lower()}\n"
        f"version = {sys.version.split()[0]}\n"
    )
    names = ("python", "python3", f"python{version}")
    return PythonEnvironment(
        f"{ENVIRONMENT_ROOT}/bin/python3",
        binds,
        {f"{ENVIRONMENT_ROOT}/bin/{name}": base_executable for name in names},
        {f"{ENVIRONMENT_ROOT}/pyvenv.cfg": configuration},
        library_path,
    )


def compile_guest() -> None:
    """Compile the code that runs inside, where a checkout has not been compiled.

    Sandboxes see its folders read-only, and would compile it at every start.
    """
    shim = PACKAGE / "language_handlers" / "python" / "shim"
    for source in (*(PACKAGE / "guest").glob("*.py"), *shim.rglob("*.py")):
        compiled = Path(cache_from_source(str(source)))
        if compiled.exists() and compiled.stat().st_mtime >= source.stat().st_mtime:
            continue
        if not os.access(source.parent, os.W_OK):
            return
        import py_compile

        py_compile.compile(str(source), quiet=2)


def _extra_packages() -> tuple[str | None, bool]:
    """Return the folder of packages outside of the base interpreter, and whether the base packages
    are visible too.
    """
    if sys.prefix != sys.base_prefix:
        text = (Path(sys.prefix) / "pyvenv.cfg").read_text(encoding="utf-8")
        pairs = dict(line.partition("=")[::2] for line in text.lower().splitlines())
        shared = {key.strip(): value.strip() for key, value in pairs.items()}
        visible = shared.get("include-system-site-packages") == "true"
        return os.path.realpath(sysconfig.get_path("purelib")), visible
    user = site.getusersitepackages()
    if site.ENABLE_USER_SITE and os.path.isdir(user):
        return os.path.realpath(user), True
    return None, False


def module_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs `main` of a module of this package in an interpreter without
    site packages.
    """
    package, _, name = module.rpartition(".")
    code = (
        f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r}); "
        f"from {package} import {name}; {name}.main()"
    )
    return [sys.executable, "-I", "-S", "-c", code, *arguments]
