"""Installed libraries in a pod, as layers that are copied into it."""

import itertools
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from llm_sandbox.backends.base import Machine, MachineSpec
from llm_sandbox.backends.kubernetes.exec_stream import ExecStream
from llm_sandbox.backends.kubernetes.machine import PodMachine
from llm_sandbox.backends.layer_archive import layer_marker, pack_layer
from llm_sandbox.backends.python_environment import LAYERS_ROOT
from llm_sandbox.exceptions import BackendError, SandboxTimeoutError
from llm_sandbox.limits import Deadline

__all__ = ["PodLayers"]

_PAUSE_S: Final = 0.005
_MOST_QUEUED: Final = 1 << 20
_DONE: Final = b"unpacked"


def _unpack(root: str) -> str:
    """Return a program that unpacks an archive of this computer, which has files and folders only,
    below a folder.
    """
    return (
        "import sys, tarfile\n"
        "with tarfile.open(fileobj=sys.stdin.buffer, mode='r|') as archive:\n"
        "    for member in archive:\n"
        f"        archive.extract(member, {root!r}, set_attrs=member.isreg())\n"
        f"sys.stdout.write({_DONE.decode()!r})\n"
    )


class PodLayers:
    """See `ImageLayers`.

    Args:
        machine: The machine.
        container: Name of its container.
        runtime: Command line of an interpreter in it.
        image: Id of its image.
        image_name: Its name, for people.
        fresh_machine: See `ImageLayers`.
        root: Folder of the layers inside.
    """

    def __init__(
        self,
        machine: PodMachine,
        container: str,
        runtime: tuple[str, ...],
        image: str,
        image_name: str,
        fresh_machine: Callable[[MachineSpec], Machine],
        root: str = LAYERS_ROOT,
    ) -> None:
        self._root = root
        self.image = f"{image} {machine.python()}".rstrip()
        self.image_name = image_name
        self._machine = machine
        self._container = container
        self._runtime = runtime
        self._fresh_machine = fresh_machine

    def fresh_machine(self, spec: MachineSpec) -> Machine:
        return self._fresh_machine(spec)

    def marker(self, digest: str) -> str:
        return f"{self._root}/{layer_marker(digest)}"

    def deliver(self, digest: str, folder: Path, deadline: Deadline) -> None:
        machine = self._machine
        pods = machine.pods
        stream = ExecStream(
            pods.cluster,
            pods.namespace,
            machine.pod,
            self._container,
            [*self._runtime, "-c", _unpack(self._root)],
        )
        try:
            # It is read in records, and its input has no end.
            end = bytes(2 * tarfile.RECORDSIZE)
            for piece in itertools.chain(pack_layer(digest, folder, deadline), [end]):
                stream.send(piece)
                while stream.waiting > _MOST_QUEUED:
                    _go_on(stream, deadline)
            found = b""
            while (more := stream.receive()) is not None and _DONE not in found:
                found += more
                _go_on(stream, deadline)
        except OSError as error:
            raise BackendError(
                f"the libraries could not be copied into the pod: {error}", backend="kubernetes"
            ) from None
        finally:
            stream.close()
        if _DONE not in found:
            raise BackendError(
                "the libraries could not be copied into the pod: its disk may be full",
                backend="kubernetes",
            )


def _go_on(stream: ExecStream, deadline: Deadline) -> None:
    if deadline.expired:
        raise SandboxTimeoutError("copying the libraries took too long", op="copy")
    stream.flush()
    time.sleep(_PAUSE_S)
