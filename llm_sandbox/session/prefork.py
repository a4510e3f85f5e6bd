"""Kernels kept ready ahead of need: forked, confined, warmed by a first cell, and used once."""

import collections
import contextlib
import os
import threading
import time
import weakref
from dataclasses import replace

from llm_sandbox.backends.base import Backend, KernelSpec, Machine, MachineSpec, RawKernel
from llm_sandbox.exceptions import BackendError, KernelNotReadyError, SandboxError
from llm_sandbox.kernel.client import KernelClient
from llm_sandbox.kernel.output_buffer import OutputBuffer
from llm_sandbox.kernel.stop import Stop
from llm_sandbox.limits import Deadline, Limits
from llm_sandbox.results.outputs import StreamOutput

__all__ = [
    "PreforkPool",
    "Ready",
    "await_start",
    "connect_kernel",
    "shared_pool",
    "start_kernel",
    "wait_for_kernel",
]

_WARM_UP_S = 60.0
_REFILL_DELAY_S = 0.05
_WORDS = 4096

_Key = tuple[Backend, MachineSpec]

Ready = tuple[Machine, KernelClient]
"""A machine with a kernel in it that has run nothing of a user's."""


def start_kernel(machine: Machine, spec: KernelSpec) -> KernelClient:
    """Start a kernel and connect to it.

    Raises:
        KernelNotReadyError: The machine's Python cannot run one.
        ContainerGoneError: The machine has ended.
    """
    return connect_kernel(machine, machine.start_kernel(spec))


def connect_kernel(machine: Machine, raw: RawKernel) -> KernelClient:
    """Connect to a kernel that runs."""

    def interrupt(number: int) -> None:
        # Whether it helps is seen by what the kernel does.
        with contextlib.suppress(SandboxError):
            machine.signal(raw.id, number)

    return KernelClient(raw, interrupt, machine.note_turn)


def await_start(client: KernelClient, deadline: Deadline, stop: Stop | None) -> Deadline:
    """Wait until a slow interpreter runs code; returns the deadline without that time, which is not
    the code's.

    Raises:
        KernelNotReadyError: It has ended instead; the message has its own words.
    """
    started = time.monotonic()
    heard = OutputBuffer(Limits(output_bytes=_WORDS, displays=0))
    give_up = Deadline.after(_WARM_UP_S)
    run = client.execute("", heard, deadline=give_up, silent=True, stop=stop)
    if run.end == "died" and not run.stopped:
        words = "".join(out.text for out in heard.finish() if isinstance(out, StreamOutput))
        raise KernelNotReadyError(f"the interpreter did not start: {words.strip()}")
    spent = time.monotonic() - started
    return deadline if deadline.at is None else Deadline(deadline.at + spent)


def wait_for_kernel(client: KernelClient) -> KernelClient:
    """Return a client whose interpreter runs code by now.

    Raises:
        KernelNotReadyError: As by `await_start`; the client is closed.
    """
    try:
        await_start(client, Deadline(), None)
    except BaseException:
        client.close()
        raise
    return client


class PreforkPool:
    """Ready kernels by backend and machine specification.

    What was asked for last is what is kept: a pool of another specification is let go when a new
        one is wanted.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ready: dict[_Key, collections.deque[Ready]] = {}
        self._filling: set[_Key] = set()
        self._without_kernel: weakref.WeakSet[Backend] = weakref.WeakSet()
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._ready, self._filling, self._without_kernel = {}, set(), weakref.WeakSet()

    def claim(self, backend: Backend, spec: MachineSpec, size: int) -> Ready | None:
        """Take a ready kernel, and have the pool filled again in the background.

        Args:
            backend: Where.
            spec: What kind of machine.
            size: How many are to be kept ready; 0 for none.

        Returns:
            A ready kernel, or None when none is ready yet.
        """
        if size == 0 or not backend.pooled or backend in self._without_kernel:
            return None
        key = (backend, spec)
        with self._lock:
            ready = self._ready.setdefault(key, collections.deque())
            claimed = None
            while ready and claimed is None:
                machine, client = ready.popleft()
                if machine.end_reason is None and client.exit is None:
                    claimed = machine, client
            surplus = [
                pair
                for other in list(self._ready)
                if other != key
                for pair in self._ready.pop(other)
            ]
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
        surplus: list[Ready],
    ) -> None:
        try:
            for pair in surplus:
                _end(pair)
            if not backend.wait_until_warm(spec.network, _WARM_UP_S):
                raise BackendError("the zygote did not come up")
            # The claimed session's first run comes now, and comes first.
            time.sleep(_REFILL_DELAY_S)
            while self._lacks(key, size):
                pair = _make(backend, spec)
                if not self._keep(key, pair):
                    _end(pair)
        except SandboxError as error:
            if isinstance(error, KernelNotReadyError):
                self._without_kernel.add(backend)
            # A session that finds nothing ready makes its own, and reports what is wrong.
            with self._lock:
                self._filling.discard(key)

    def _lacks(self, key: _Key, size: int) -> bool:
        """Whether one more is wanted; if not, the filling is over, in the same moment."""
        with self._lock:
            lacks = key in self._ready and len(self._ready[key]) < size
            if not lacks:
                self._filling.discard(key)
            return lacks

    def _keep(self, key: _Key, pair: Ready) -> bool:
        with self._lock:
            if key not in self._ready:
                return False
            self._ready[key].append(pair)
            return True

    def ready_count(self) -> int:
        """How many kernels are ready, of every kind."""
        with self._lock:
            return sum(map(len, self._ready.values()))

    def clear(self) -> None:
        """End every ready kernel."""
        with self._lock:
            pairs = [pair for ready in self._ready.values() for pair in ready]
            self._ready = {}
        for pair in pairs:
            _end(pair)


def _make(backend: Backend, spec: MachineSpec) -> Ready:
    machine = backend.create(replace(spec, ahead=True))
    try:
        client = start_kernel(machine, KernelSpec(machine.base_env(), warm=True))
    except BaseException:
        machine.destroy()
        raise
    # Every run asks it what became of the files. If it does not start, whoever asks hears why.
    with contextlib.suppress(SandboxError):
        machine.prepare_files()
    return machine, client


def _end(pair: Ready) -> None:
    machine, client = pair
    client.close()
    machine.destroy()


_pool = PreforkPool()


def shared_pool() -> PreforkPool:
    """The pool of this process."""
    return _pool
