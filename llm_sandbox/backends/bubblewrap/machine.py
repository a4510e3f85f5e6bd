"""Machine of bubblewrap, in namespaces of this kernel."""

import contextlib
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path

from llm_sandbox.backends.file_snapshots import FileSnapshots
from llm_sandbox.backends.snapshot import Snapshot
from llm_sandbox.backends.supervised import SupervisedMachine
from llm_sandbox.exceptions import BackendError, OutputLimitError, UnsupportedError
from llm_sandbox.guest.bulk import Connection, SenderFailed
from llm_sandbox.guest.constants import PRESENT

__all__ = ["BubblewrapMachine"]

_ANSWER_S = 30.0
_SAVE_S = 600.0
_CREDENTIALS = struct.Struct("3i")


class BubblewrapMachine(SupervisedMachine):
    """Machine in namespaces of this kernel.

    Its network namespace belongs to a user namespace of the user that started it, who may therefore
    enter it without being root.
    """

    protects_runner = True

    def live_limits(self) -> frozenset[str]:
        # The limits of processes and of the size of a file are held by rlimits, of each process.
        found = super().live_limits() | {"tmp_bytes", "shm_bytes", "inodes"}
        if self.spec.workdir not in self.spec.mounts:
            found |= {"workdir_bytes"}
        if self._cgroup is not None:
            found |= {"memory_bytes"}
            # Processes join the controller at their start, and only where there was a limit.
            if "cpu" in self._cgroup.controllers:
                found |= {"cpus"}
        return found

    @contextlib.contextmanager
    def process_in_network(self) -> Iterator[int]:
        near, far = socket.socketpair()
        with near:
            near.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            near.settimeout(_ANSWER_S)
            with far:
                self._request("agent", (far.fileno(),), machine=self.id, serves="presence")
            answer, ancillary, _, _ = near.recvmsg(1, socket.CMSG_SPACE(_CREDENTIALS.size))
            for level, kind, payload in ancillary:
                if (level, kind, answer) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS, PRESENT):
                    process = _CREDENTIALS.unpack(payload)[0]
                    if process > 0:
                        yield process
                        return
            raise BackendError(
                "the process in the sandbox's network could not be found", op="network"
            )

    def snapshot(
        self,
        workdir: bytes,
        name: str | None,
        site: Path | None = None,
        *,
        expires_at: float | None = None,
    ) -> Snapshot:
        if site is not None:
            raise UnsupportedError(
                "saving installed libraries",
                self.isolation.backend,
                "they are in this computer's own layers",
            )
        created_at = time.time()
        root = self._changed_root() if self.spec.writable_root else None
        with FileSnapshots() as store, store.begin() as saving:
            saving.add("workdir", workdir)
            if root is not None:
                saving.add("root", root)
            return saving.finish(
                Snapshot(
                    self.isolation.backend,
                    "",
                    "",
                    name or "",
                    created_at=created_at,
                    expires_at=expires_at,
                )
            )

    def _changed_root(self) -> bytes:
        """Return the changes of the writable root as an archive.

        Raises:
            BackendError: The changes could not be read completely.
            OutputLimitError: The archive is larger than the limits of the root allow.
        """
        # The largest archive of a root within its limits, with the headers of its files.
        limit = self.spec.limits.workdir_bytes + 2048 * self.spec.limits.inodes
        near, far = socket.socketpair()
        with near:
            near.settimeout(_SAVE_S)
            with far:
                self._request("agent", (far.fileno(),), machine=self.id, serves="root", limit=limit)
            connection, data = Connection(near), bytearray()
            try:
                # trust: files of programs, packed by a process of ours that they cannot reach.
                with contextlib.suppress(SenderFailed):
                    for chunk in connection.chunks():
                        data += chunk
                        if len(data) > limit:
                            raise OutputLimitError(f"more than {limit} bytes", limit=limit)
                reply = connection.receive_record()
            except (EOFError, OSError) as error:
                raise BackendError(
                    f"the changed root could not be read: {error}",
                    op="snapshot",
                    backend=self.isolation.backend,
                ) from None
        if "errno" in reply:
            raise BackendError(
                f"the changed root could not be read: {reply.get('message')}",
                op="snapshot",
                backend=self.isolation.backend,
            )
        return bytes(data)
