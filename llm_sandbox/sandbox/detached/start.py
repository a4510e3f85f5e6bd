"""Start of a daemon, and the connection to one."""

import importlib
import logging
import os
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from llm_sandbox.backends.base import Backend, Machine
from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import (
    BackendError,
    BackendUnavailableError,
    ContainerGoneError,
    SandboxError,
    SandboxNotFoundError,
    UnsupportedBackendError,
    UnsupportedError,
)
from llm_sandbox.guest.control import ControlChannel
from llm_sandbox.sandbox.detached.client import DaemonClient, connect
from llm_sandbox.sandbox.detached.codec import decode, encode
from llm_sandbox.sandbox.detached.machine import DetachedMachine
from llm_sandbox.sandbox.detached.record import FORMAT, Record, check_name, check_tags
from llm_sandbox.sandbox.detached.registry import find, find_by_name, live_records
from llm_sandbox.sandbox.detached.request import CreateRequest, SandboxInfo
from llm_sandbox.sandbox.detached.self_kept import attach_kept, create_kept, is_self_kept
from llm_sandbox.sandbox.detached.state_dir import StateDir
from llm_sandbox.settings import Settings
from llm_sandbox.settings.sources import CONFIG, variables_of

__all__ = ["attach", "attach_all", "attach_by_id", "attach_by_name", "create", "create_in_daemon"]

logger = logging.getLogger(__name__)

_PACKAGE = Path(__file__).resolve().parents[2]
_LAUNCH_S = 60.0
_LOG_TAIL = 2000
_INHERITED = frozenset(
    {
        "CONTAINERS_CONF",
        "CONTAINERS_CONF_OVERRIDE",
        "CONTAINERS_STORAGE_CONF",
        "CONTAINER_HOST",
        "CONTAINER_SSHKEY",
        "DOCKER_API_VERSION",
        "DOCKER_CERT_PATH",
        "DOCKER_CONFIG",
        "DOCKER_CONTEXT",
        "DOCKER_HOST",
        "DOCKER_TLS",
        "DOCKER_TLS_VERIFY",
        "HOME",
        "KUBECONFIG",
        "KUBERNETES_SERVICE_HOST",
        "KUBERNETES_SERVICE_PORT",
        "LANG",
        "LANGUAGE",
        "LD_LIBRARY_PATH",
        "LOGNAME",
        "PATH",
        "PYTHONHOME",
        "PYTHONPATH",
        "SSH_AUTH_SOCK",
        "SSL_CERT_DIR",
        "SSL_CERT_FILE",
        "TMPDIR",
        "TZ",
        "USER",
        "VIRTUAL_ENV",
    }
)
"""Variables that a daemon inherits besides the settings: all others may be secrets."""
_INHERITED_PREFIXES = ("LC_", "XDG_")


def create(backend: Backend, request: CreateRequest) -> Machine:
    """Create a machine that outlives this process, by a daemon unless its supervisor keeps it.

    Raises:
        As `create_in_daemon`.
    """
    options = _options(backend)
    if not is_self_kept(backend, request):
        return create_in_daemon(backend, request)
    return create_kept(backend, replace(request, backend=backend.name, options=options))  # type: ignore[no-any-return]


def create_in_daemon(backend: Backend, request: CreateRequest) -> DetachedMachine:
    """Start a daemon that creates a machine.

    Args:
        backend: The backend.
        request: The options; `backend` and `options` are set here.

    Raises:
        NameInUseError: Another living sandbox has the name.
        UnsupportedError: The backend object, or an option, cannot be sent to another process.
        SandboxError: The machine could not be created, or the entry command not started.
    """
    request = replace(request, backend=backend.name, options=_options(backend))
    message = {"request": encode(request)}
    StateDir().close()  # whatever is wrong with it is said here, and before anything is started
    near, far = socket.socketpair()
    channel = ControlChannel(near)
    with tempfile.TemporaryFile() as log:
        try:
            _launch(far, log)
            channel.send(message)
            record = channel.receive()
            if record is None:
                raise _died(log)
        except OSError as error:
            channel.close()
            raise _died(log) from error
        except BaseException:
            channel.close()
            raise
    reply, _ = record
    if "error" in reply:
        channel.close()
        raise SandboxError.from_dict(reply["error"])
    info: SandboxInfo = decode(reply["value"])
    client = DaemonClient(channel)
    client.notify("taken")
    _repeat_warnings(info)
    return DetachedMachine(client, info)


def _options(backend: Backend) -> ContainerOptions | None:
    """Return the description of a backend from which another process can create it.

    Raises:
        UnsupportedError: The backend cannot be described.
    """
    try:
        registered = get_backend(backend.name)
    except UnsupportedBackendError:
        registered = None
    if type(registered) is not type(backend) or getattr(backend, "_client", None) is not None:
        raise UnsupportedError(
            "a sandbox that is kept",
            backend.name,
            "its daemon is another process, to which this backend object cannot be given",
            hint=f"name the backend instead: backend={backend.name!r}",
        )
    options: ContainerOptions | None = getattr(backend, "options", None)
    return options


def _launch(far: socket.socket, log: BinaryIO) -> None:
    """Start the daemon, detached from this process."""
    folder = str(_PACKAGE.parent)
    code = (
        "import os, sys\n"
        "if os.fork(): os._exit(0)\n"
        "os.setsid()\n"
        f"if {folder!r} not in sys.path: sys.path.insert(0, {folder!r})\n"
        "from llm_sandbox.sandbox.detached.daemon import main\n"
        f"main({far.fileno()})\n"
    )
    known = _INHERITED | {CONFIG, *variables_of(Settings.names()).values()}
    passed_on = {
        name: value
        for name, value in os.environ.items()
        if name in known or name.startswith(_INHERITED_PREFIXES)
    }
    try:
        launcher = subprocess.Popen(
            [sys.executable, "-P", "-c", code],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            pass_fds=(far.fileno(),),
            cwd="/",
            env=passed_on,
        )
    finally:
        far.close()
    try:
        launcher.wait(_LAUNCH_S)
    except BaseException:
        launcher.kill()
        launcher.wait()
        raise


def _died(log: BinaryIO) -> BackendUnavailableError:
    log.seek(0, os.SEEK_END)
    log.seek(max(0, log.tell() - _LOG_TAIL))
    words = log.read().decode("utf-8", "replace").strip()
    return BackendUnavailableError(f"the sandbox's daemon did not start: {words or 'it ended'}")


def _repeat_warnings(info: SandboxInfo) -> None:
    """Repeat the warnings of the daemon in this process, as its own are invisible."""
    for module, name, text in info.warnings:
        category = getattr(importlib.import_module(module), name, UserWarning)
        warnings.warn(text, category, stacklevel=4)


def attach(state_dir: StateDir, record: Record) -> DetachedMachine:
    """Connect to the daemon of a sandbox.

    Raises:
        SandboxNotFoundError: The sandbox has just ended.
        SecurityError: Another user's process listens on its socket.
        BackendError: The daemon is of another version of this library.
    """
    if record.format != FORMAT:
        raise BackendError(
            f"sandbox {record.id} has a daemon of another version of this library: "
            f"expected protocol {FORMAT}, got {record.format}",
            op="attach",
            backend=record.backend,
            hint="use it with the version that created it, or end it: "
            f"kill {record.daemon or '<pid of llm-sandboxd>'}",
        )
    try:
        client = DaemonClient(connect(state_dir, record.id))
        try:
            info: SandboxInfo = client.call("hello")
        except BaseException:
            client.close()
            raise
    except ContainerGoneError:
        raise SandboxNotFoundError(record.id) from None
    return DetachedMachine(client, info)


def attach_by_id(sandbox_id: str) -> Machine:
    """Connect to a sandbox; see `Sandbox.attach`."""
    with StateDir() as state_dir:
        return _attach(state_dir, find(state_dir, sandbox_id))


def attach_by_name(name: str, namespace: str) -> Machine:
    """Connect to a sandbox; see `Sandbox.from_name`."""
    check_name(name, "name")
    check_name(namespace, "namespace")
    with StateDir() as state_dir:
        return _attach(state_dir, find_by_name(state_dir, name, namespace))


def attach_all(tags: Mapping[str, str] | None, namespace: str | None) -> list[Machine]:
    """Connect to all sandboxes that match; see `Sandbox.list`."""
    if namespace is not None:
        check_name(namespace, "namespace")
    machines: list[Machine] = []
    with StateDir() as state_dir:
        for record in live_records(state_dir, check_tags(tags), namespace):
            try:
                machines.append(_attach(state_dir, record))
            except (SandboxNotFoundError, BackendError) as error:
                logger.debug("sandbox %s is left out: %s", record.id, error)
    return machines


def _attach(state_dir: StateDir, record: Record) -> Machine:
    machine: Machine
    if record.place is not None:
        machine = attach_kept(state_dir, record)
    else:
        machine = attach(state_dir, record)
    machine.lets_go = True
    return machine
