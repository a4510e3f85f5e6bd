"""Python of an image: probed once, and used to compile byte code that only it can."""

import contextlib
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Sequence
from pathlib import Path

from llm_sandbox.backends.base import MachineSpec
from llm_sandbox.backends.layers import ImageLayers
from llm_sandbox.exceptions import SandboxError, UnsupportedError
from llm_sandbox.host.terminal import strip_controls
from llm_sandbox.limits import Deadline, Limits
from llm_sandbox.packages.builders import builder_for_image
from llm_sandbox.packages.pip import Progress
from llm_sandbox.packages.target_python import PROBE, TargetPython, read_target
from llm_sandbox.sandbox.sandbox import Sandbox

__all__ = ["ImageBuilder", "ImagePython"]

_ASK_S = 60.0
_COMPILE_S = 300.0
_LARGEST_RECORD = 1 << 20
_COMPILED_BYTES = 1 << 30
_COMPILING_LIMITS = Limits(memory_bytes=2 << 30, workdir_bytes=1 << 30, inodes=1 << 18)
_COMPILED = re.compile(r"(?P<module>[^/]+)\.cpython-\d{2,4}[a-z]{0,2}\.pyc", re.DOTALL)
# Runs in the image's Python. What does not compile is a template, or for another Python.
_COMPILE = """
import importlib.util, os, py_compile, sys
source, compiled = sys.argv[1:]
for folder, _, names in os.walk(source):
    for name in names:
        path = os.path.join(folder, name)
        inside = os.path.relpath(path, source)
        target = importlib.util.cache_from_source(os.path.join(compiled, inside))
        try:
            py_compile.compile(path, target, inside, doraise=True,
                invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
        except Exception:
            pass
"""


class ImagePython:
    """Python of one image.

    It is probed in a machine of its own, in which nothing of a user's has run: the answer is stored
    for every session of the image.

    Args:
        layers: Layers of the image.
        records: Folder of stored answers.
    """

    def __init__(self, layers: ImageLayers, records: Path) -> None:
        self._layers = layers
        key = hashlib.sha256(f"{PROBE}\0{layers.image}".encode()).hexdigest()
        self._record = records / f"{key}.json"
        self._target: TargetPython | None = None

    def target(self) -> TargetPython:
        """Return the description of the Python, from the stored answer if there is one.

        Raises:
            UnsupportedError: The image has no Python, or one that libraries cannot be installed
                for.
        """
        if self._target is None:
            self._target = self._recall() or self._ask()
        return self._target

    def _recall(self) -> TargetPython | None:
        with contextlib.suppress(OSError, ValueError), self._record.open("rb") as file:
            return read_target(file.read(_LARGEST_RECORD).decode())
        return None

    def _ask(self) -> TargetPython:
        machine = self._layers.fresh_machine(MachineSpec())
        with Sandbox.from_machine(machine) as sandbox:
            if not machine.python():
                raise self._unsupported("it has no Python")
            program = [machine.python(), "-I", "-c", PROBE]
            if machine.library_path is not None:
                program.append(machine.library_path)
            result = sandbox.exec(*program, timeout=_ASK_S).collect()
        if result.exit_code != 0:
            words = strip_controls(result.stderr).strip().rpartition("\n")[2][:200]
            raise self._unsupported(f"its Python does not work: {words or 'no reason given'}")
        try:
            if len(result.stdout) > _LARGEST_RECORD // 4:
                raise ValueError("its Python says more of itself than there can be")
            target = read_target(result.stdout)
        except ValueError as error:
            raise self._unsupported(str(error)) from None
        self._record.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self._record.with_suffix(f".{secrets.token_hex(4)}")
        draft.write_text(result.stdout, encoding="utf-8")
        draft.replace(self._record)
        return target

    def _unsupported(self, reason: str) -> UnsupportedError:
        return UnsupportedError(
            f"installing libraries in the image {self._layers.image_name}", reason=reason
        )


class ImageBuilder:
    """Builder of layers for an image's Python, which compiles in a machine of the image if only its
    Python can.

    Args:
        layers: Layers of the image.
        target: Python of the image.
    """

    def __init__(self, layers: ImageLayers, target: TargetPython) -> None:
        self._layers = layers
        self._target = target

    def build(
        self, staging: Path, specs: Sequence[str], deadline: Deadline, progress: Progress
    ) -> None:
        """See `Builder.build`."""
        # Chosen only now: most sessions find what they need, and build nothing.
        builder_for_image(self._target).build(staging, specs, deadline, progress)
        if self._target.compiles_here or not (staging / "site").is_dir():
            return
        progress("compiling in the image")
        try:
            self._compile(staging, deadline)
        except SandboxError as error:
            # Without byte code everything works, only slower.
            progress(f"not compiled: {error.message}")

    def _compile(self, staging: Path, deadline: Deadline) -> None:
        _copy_sources(staging / "site", staging / "sources")
        left = deadline.remaining()
        limit = _COMPILE_S if left is None else min(left, _COMPILE_S)
        spec = MachineSpec(limits=_COMPILING_LIMITS, timeout_s=limit + 1)
        machine = self._layers.fresh_machine(spec)
        with Sandbox.from_machine(machine) as sandbox:
            sandbox.files.upload(staging / "sources", "sources")
            sandbox.files.mkdir("compiled")
            program = (machine.python(), "-I", "-c", _COMPILE, "sources", "compiled")
            sandbox.check(*program, timeout=limit)
            sandbox.files.download("compiled", staging / "compiled", limit=_COMPILED_BYTES)
        _merge(staging / "compiled", staging / "site")


def _copy_sources(site: Path, target: Path) -> None:
    target.mkdir()
    # trust: the tree was written by pip from packages; no link in it is followed.
    for path, _, names, fd in os.fwalk(site):
        folder = target / os.path.relpath(path, site)
        sources = [name for name in names if name.endswith(".py")]
        if sources:
            folder.mkdir(parents=True, exist_ok=True)
        for name in sources:
            try:
                source = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=fd)
            except OSError:
                continue
            with os.fdopen(source, "rb") as file:
                if stat.S_ISREG(os.fstat(source).st_mode):
                    (folder / name).write_bytes(file.read())


def _merge(compiled: Path, site: Path) -> None:
    """Move byte code beside the sources, and nothing else."""
    for path, _, names, fd in os.fwalk(compiled):
        parent, name = os.path.split(os.path.relpath(path, compiled))
        if name != "__pycache__":
            continue
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            beside = _open_folder(site, parent, stack)
            os.mkdir(name, 0o755, dir_fd=beside)
            target = os.open(name, os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=beside)
            stack.callback(os.close, target)
            for entry in names:
                match = _COMPILED.fullmatch(entry)
                if match is not None and _is_file(f"{match['module']}.py", beside):
                    os.rename(entry, entry, src_dir_fd=fd, dst_dir_fd=target)


def _open_folder(site: Path, inside: str, stack: contextlib.ExitStack) -> int:
    fd = os.open(site, os.O_DIRECTORY | os.O_NOFOLLOW)
    stack.callback(os.close, fd)
    for part in inside.split("/") if inside else ():
        fd = os.open(part, os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=fd)
        stack.callback(os.close, fd)
    return fd


def _is_file(name: str, folder: int) -> bool:
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode)
