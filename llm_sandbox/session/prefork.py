"""Pool of pre-forked kernels: confined and warmed by a first cell ahead of need, used once."""

import collections
import contextlib
import os
import threading
import time
import weakref
from dataclasses import replace

from llm_sandbox.backends.base import Backend, KernelSpec, Machine, MachineSpec
from llm_sandbox.exceptions import BackendError, KernelNotReadyError, SandboxError
from llm_sandbox.kernel.client import KernelClient
from llm_sandbox.session.kernel_setup import start_kernel

__all__ = ["PreforkPool", "ReadyKernel", "shared_pool"]

_WARM_UP_S = 60.0
_REFILL_DELAY_S = 0.05

_Key = tuple[Backend, MachineSpec]

ReadyKernel = tuple[Machine, KernelClient]
"""A machine with a kernel in it that has run nothing of a user's."""


class PreforkPool:
    """Ready kernels by backend and machine specification.

    Only the specification that was claimed last is kept ready: kernels of another one are ended
    when a new one is claimed.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ready: dict[_Key, collections.deque[ReadyKernel]] = {}
        self._filling: set[_Key] = set()
        self._without_kernel: weakref.WeakSet[Backend] = weakref.WeakSet()
        os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._ready, self._filling, self._without_kernel = {}, set(), weakref.WeakSet()

    def claim(self, backend: Backend, spec: MachineSpec, size: int) -> ReadyKernel | None:
        """Take a ready kernel, and refill the pool in the background.

        Args:
            backend: The backend.
            spec: The specification of the machine.
            size: How many kernels to keep ready; 0 for none.

        Returns:
            A ready kernel, or None when none is ready yet.
        """
        if size == 0 or not backend.pooled or backend in self._without_kernel:
            return None
        key = (backend, spec)
        with self._lock:
            ready = self._ready.setdefault(key, collections.deque())
            claimed = None
            surplus = []
            while ready and claimed is None:
                machine, client = pair = ready.popleft()
                if machine.end_reason is None and client.exit is None:
                    claimed = pair
                else:
                    surplus.append(pair)
            for other in [other for other in self._ready if other != key]:
                surplus += self._ready.pop(other)
            fill = key not in self._filling
            self._filling.add(key)
        if fill or surplus:
            threading.Thread(
                target=self._fill,
                args=(key, backend, spec, size, surplus),
                name="llm-sandbox-pool",
                daemon=True,
            ).start()
        return claimed

    def _fill(
        self,
        key: _Key,
        backend: Backend,
        spec: MachineSpec,
        size: int,
        surplus: list[ReadyKernel],
    ) -> None:
        try:
            for pair in surplus:
                _end(pair)
            if not backend.wait_until_warm(spec.network, _WARM_UP_S):
                raise BackendError("the zygote did not come up")
            # The claimed session's first run comes now, and has precedence.
            time.sleep(_REFILL_DELAY_S)
            while self._lacks(key, size):
                pair = _make(backend, spec)
                if not self._add(key, pair):
                    _end(pair)
        except SandboxError as error:
            if isinstance(error, KernelNotReadyError):
                self._without_kernel.add(backend)
            # A session that finds nothing ready makes its own, and reports the error.
            with self._lock:
                self._filling.discard(key)

    def _lacks(self, key: _Key, size: int) -> bool:
        """Return whether one more kernel is wanted; if not, end the filling atomically."""
        with self._lock:
            lacks = key in self._ready and len(self._ready[key]) < size
            if not lacks:
                self._filling.discard(key)
            return lacks

    def _add(self, key: _Key, pair: ReadyKernel) -> bool:
        with self._lock:
            if key not in self._ready:
                return False
            self._ready[key].append(pair)
            return True

    def ready_count(self) -> int:
        """Return how many kernels are ready, of all specifications."""
        with self._lock:
            return sum(map(len, self._ready.values()))

    def clear(self) -> None:
        """End every ready kernel."""
        with self._lock:
            pairs = [pair for ready in self._ready.values() for pair in ready]
            self._ready = {}
        for pair in pairs:
            _end(pair)


def _make(backend: Backend, spec: MachineSpec) -> ReadyKernel:
    machine = backend.create(replace(spec, ahead=True))
    try:
        client = start_kernel(machine, KernelSpec(machine.base_env(), warm=True))
    except BaseException:
        machine.destroy()
        raise
    # Every run needs the file service. If it does not start, the first run reports why.
    with contextlib.suppress(SandboxError):
        machine.prepare_files()
    return machine, client


def _end(pair: ReadyKernel) -> None:
    machine, client = pair
    client.close()
    machine.destroy()


_pool = PreforkPool()


def shared_pool() -> PreforkPool:
    """Return the pool of this process."""
    return _pool
