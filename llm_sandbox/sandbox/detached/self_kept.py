"""Detached sandboxes without a daemon: their own supervisor keeps them, as in a pod.

The registry has the place of each, and its key: who has that is a client. What later clients have
to know, with the values of secrets, is kept by the supervisor. The second half of the key, which
the supervisor never gets, proves to them that it is what the creator has written.
"""

import contextlib
import hashlib
import hmac
import json
import logging
import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from llm_sandbox.backends.base import Backend, ProcessSpec
from llm_sandbox.backends.kept import Keeper
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import (
    BackendError,
    ContainerGoneError,
    SandboxError,
    SandboxNotFoundError,
    SecurityError,
)
from llm_sandbox.sandbox.detached.codec import decode, encode
from llm_sandbox.sandbox.detached.record import Record
from llm_sandbox.sandbox.detached.registry import live_records, mark_ended, register, rewrite
from llm_sandbox.sandbox.detached.request import CreateRequest, SandboxInfo
from llm_sandbox.sandbox.detached.state_dir import StateDir
from llm_sandbox.sandbox.network import SandboxNetwork
from llm_sandbox.sandbox.secret_files import inject_secrets

__all__ = ["attach_kept", "create_kept", "is_self_kept", "settle"]

logger = logging.getLogger(__name__)

_KEY_SIZE = 32
_MOST_WORDS = 4 << 20
_SILENT = ("closed",)
"""Reasons of an end that leaves no record."""


def is_self_kept(backend: Backend, request: CreateRequest) -> bool:
    """Return whether a sandbox can live without a daemon.

    Sessions need one, which holds the connection of their interpreter, and so do gates.
    """
    return (
        backend.keeper is not None
        and request.session is None
        and request.snapshot is None
        and request.network in ("blocked", "open")
        and not request.secrets.bindings
    )


def create_kept(backend: Backend, request: CreateRequest) -> Any:
    """Create a machine that is kept by its own supervisor.

    Args:
        backend: A backend with a keeper.
        request: The options, with those of the backend.

    Raises:
        NameInUseError: Another living sandbox has the name.
        SandboxError: The machine could not be created, or the entry command not started.
    """
    with StateDir() as state_dir:
        if request.name is not None:
            settle(lambda one: (one.name, one.namespace) == (request.name, request.namespace))
        entry = register(state_dir, request.make_record())
        try:
            machine = _make(backend, request, entry.write)
        except BaseException:
            entry.remove()
            raise
        finally:
            os.close(entry.lock)
        state_dir.remove(f"{request.id}.lock")
        return machine


def _make(backend: Backend, request: CreateRequest, write: Callable[[Record], None]) -> Any:
    keeper = backend.keeper
    assert keeper is not None  # noqa: S101 - asked before
    key = os.urandom(2 * _KEY_SIZE)
    machine = keeper.create(request.spec, request.id, key[:_KEY_SIZE])
    try:
        _equip(machine, request)
        inject_secrets(machine, request.secrets)
        if request.command:
            environment = {**machine.base_env(), **request.secrets.env}
            if request.terminal is not None:
                environment["TERM"] = request.terminal.term
            environment.update(request.env)
            machine.start_entry(
                ProcessSpec(request.command, environment, stdin=True, terminal=request.terminal)
            )
        info = SandboxInfo(
            request=request,
            tags=dict(request.tags or {}),
            spec=machine.spec,
            isolation=machine.isolation,
            base_env=machine.base_env(),
            python=machine.python(),
            library_path=machine.library_path,
            has_packages=machine.has_packages,
            saves_file_systems=machine.saves_file_systems,
            images=None,
        )
        record = replace(
            request.make_record(),
            place=dict(machine.place),
            machine=machine.place["pod"],
            workdir=machine.spec.workdir,
            state="running",
            ends_at=None
            if request.spec.timeout_s is None
            else time.time() + request.spec.timeout_s,
        )
        with StateDir() as state_dir:
            state_dir.write(f"{request.id}.key", key)
        # First the record: a machine that nobody could find again would live on otherwise.
        write(record)
        machine.keep(
            _seal(key, info),
            info.tags,
            idle_timeout=request.idle_timeout,
            owned=request.on_exit == "destroy",
        )
    except BaseException:
        machine.destroy()
        raise
    machine.lets_go = request.on_exit == "keep"
    _join(machine, info, keeper, record)
    return machine


def _equip(machine: Any, request: CreateRequest) -> None:
    """Give a handle its own tunnels: they are ports of this process."""
    machine.network = SandboxNetwork(machine)
    machine.network.open(request.network, request.ports)


def _join(machine: Any, info: SandboxInfo, keeper: Keeper, record: Record) -> None:
    """Connect a handle with the registry."""
    machine.info = info
    machine.name, machine.namespace = info.request.name, info.request.namespace

    def change(**changes: Any) -> None:
        with contextlib.suppress(SandboxError, OSError), StateDir() as state_dir:
            rewrite(state_dir, record.id, **changes)

    def note_end() -> None:
        if machine.is_released:
            return
        reason, code = machine.end_reason, machine.exit_code
        with contextlib.suppress(SandboxError, OSError):
            if reason == "gone":
                # The connection may be lost, and nothing else.
                end = keeper.find_end(record.place or {})
                if end is None:
                    return
                reason, code = end.reason, end.exit_code
            _note_end(record, str(reason), code)

    machine.rewrite = change
    machine.on_end(note_end)


def _note_end(record: Record, reason: str, code: int | None) -> None:
    with StateDir() as state_dir:
        mark_ended(state_dir, record, reason, code, remembered=reason not in _SILENT)


def _seal(key: bytes, info: SandboxInfo) -> str:
    words = json.dumps(encode(info))
    return _proof(key, words) + words


def _proof(key: bytes, words: str) -> str:
    return hmac.digest(key[_KEY_SIZE:], words.encode(), hashlib.sha256).hex()


def _unseal(key: bytes, words: str, record: Record) -> SandboxInfo:
    # trust: from inside; nothing is read before it is known to be the creator's.
    size = 2 * hashlib.sha256().digest_size
    proof, rest = words[:size], words[size : _MOST_WORDS + size]
    if not hmac.compare_digest(proof.encode(), _proof(key, rest).encode()):
        raise SecurityError(
            f"sandbox {record.id} describes itself otherwise than its creator did",
            backend=record.backend,
            hint=f"end it: llm-sandbox stop {record.id}; if that fails, remove its "
            f"{record.backend} machine {record.machine}",
        )
    info: SandboxInfo = decode(json.loads(rest))
    return info


def attach_kept(state_dir: StateDir, record: Record) -> Any:
    """Connect to a machine without a daemon.

    Raises:
        SandboxNotFoundError: It has ended; the message says how.
        SecurityError: The machine does not know the key, or it is another one.
        BackendUnavailableError: It cannot be reached.
    """
    key = state_dir.read(f"{record.id}.key", 2 * _KEY_SIZE)
    keeper = get_backend(record.backend).keeper
    if key is None or len(key) != 2 * _KEY_SIZE or record.place is None or keeper is None:
        raise BackendError(
            f"the key of sandbox {record.id} is missing in {state_dir.path}",
            op="attach",
            backend=record.backend,
            hint=f"end the sandbox by its backend: {record.machine}",
        )
    try:
        link = keeper.connect(record.place, key[:_KEY_SIZE])
        try:
            if link.words is None:
                raise ContainerGoneError("its creator has ended before it was made")
            info = _unseal(key, link.words, record)
            backend = get_backend(record.backend)
            if info.request.options is not None:
                backend = backend.with_options(info.request.options)
            machine = link.machine(backend, record.id, info.spec, info.isolation)
        except BaseException:
            link.close()
            raise
    except ContainerGoneError:
        ended = _settle_one(record)
        reason, code = ended or ("gone", 137)
        raise SandboxNotFoundError(record.id, end_reason=reason, exit_code=code) from None
    try:
        _equip(machine, info.request)
        _join(machine, info, keeper, record)
    except BaseException:
        machine.release()
        raise
    return machine


def _settle_one(record: Record) -> tuple[str, int] | None:
    """Write down the end of a sandbox, if it has ended, and remove its machine; return the end."""
    keeper = get_backend(record.backend).keeper
    if keeper is None or record.place is None:
        return None
    end = keeper.find_end(record.place)
    if end is None:
        return None
    _note_end(record, end.reason, end.exit_code)
    with contextlib.suppress(SandboxError):
        keeper.delete(record.place)
    return end.reason, end.exit_code


def settle(concerns: Callable[[Record], bool] = lambda record: True) -> list[str]:
    """Write down the ends of sandboxes without a daemon, and return the ids of those.

    A backend that does not answer leaves things as they are.

    Args:
        concerns: Returns whether the record of a sandbox is looked at.
    """
    with StateDir() as state_dir:
        found = [one for one in live_records(state_dir) if one.place is not None and concerns(one)]
    ended = []
    for record in found:
        try:
            if _settle_one(record) is not None:
                ended.append(record.id)
        except SandboxError as error:
            logger.debug("sandbox %s is not looked at: %s", record.id, error)
    return ended
