"""Starting a daemon, and connecting to one."""

import importlib
import os
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from llm_sandbox.backends.base import Backend, MachineSpec
from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.backends.snapshot import Snapshot
from llm_sandbox.backends.terminals import Terminal
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
from llm_sandbox.network import Network
from llm_sandbox.sandbox.detached.client import DaemonClient, connect
from llm_sandbox.sandbox.detached.codec import decode, encode
from llm_sandbox.sandbox.detached.machine import DetachedMachine
from llm_sandbox.sandbox.detached.record import FORMAT, OnExit, Record
from llm_sandbox.sandbox.detached.request import CreateRequest, DetachedSession, SandboxInfo
from llm_sandbox.sandbox.detached.state_dir import StateDir
from llm_sandbox.sandbox.readiness import ReadinessFacts
from llm_sandbox.sandbox.tls_tunnel import TlsPort
from llm_sandbox.secrets.plan import SecretPlan
from llm_sandbox.settings import Settings
from llm_sandbox.settings.sources import CONFIG, variables_of

__all__ = ["attach", "make", "new_id"]

_PACKAGE = Path(__file__).resolve().parents[2]
_LAUNCH_S = 60.0
_TOLD = 2000
_PASSED_ON = frozenset(
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
"""Variables that a daemon has of who starts it, besides the settings: all others may be secrets."""
_PASSED_ON_PREFIXES = ("LC_", "XDG_")


def new_id() -> str:
    """An id for a sandbox."""
    return f"sb-{os.urandom(8).hex()}"


def make(
    backend: Backend,
    spec: MachineSpec,
    *,
    command: tuple[str, ...],
    env: Mapping[str, str],
    secrets: SecretPlan,
    name: str | None,
    namespace: str,
    tags: Mapping[str, str],
    on_exit: OnExit,
    idle_timeout: float | None,
    network: Network,
    ports: Sequence[int | TlsPort],
    ready: ReadinessFacts | None = None,
    snapshot: Snapshot | None = None,
    terminal: Terminal | None = None,
    session: DetachedSession | None = None,
) -> DetachedMachine:
    """Have a daemon make a machine.

    Args:
        backend: The engine that it is made by.
        spec: What is asked of it.
        command: The program that it ends with; empty for none.
        env: Variables of that program, and of those that clients start.
        secrets: What it gets of secrets.
        name: Its name; None for none.
        namespace: Where that is the only one of its kind.
        tags: Its tags.
        on_exit: Whether it ends with this process.
        idle_timeout: Seconds without activity after which it ends; None for no limit.
        network: Which way out it has.
        ports: Ports inside that tunnels lead to.
        ready: How it is looked at whether it is ready; None for nothing.
        snapshot: What it begins from; None for nothing.
        terminal: The terminal that the program has; None for pipes.
        session: The session that is to live in it; None for a sandbox without one.

    Raises:
        NameInUseError: Another one has the name.
        UnsupportedError: The backend object, or an option, cannot be given to another process.
        SandboxError: The machine could not be made, or the entry command not started.
    """
    request = CreateRequest(
        id=new_id(),
        name=name,
        namespace=namespace,
        tags=dict(tags),
        on_exit=on_exit,
        idle_timeout=idle_timeout,
        command=command,
        terminal=terminal,
        backend=backend.name,
        options=_options(backend),
        spec=spec,
        network=network,
        ports=tuple(ports),
        ready=ready,
        snapshot=snapshot,
        session=session,
        owner=os.getpid(),
        env=dict(env),
        secrets=secrets,
    )
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
    client.tell("taken")
    _warn_again(info)
    return DetachedMachine(client, info)


def _options(backend: Backend) -> ContainerOptions | None:
    """What to say of a backend, so that another process has the same.

    Raises:
        UnsupportedError: That cannot be said.
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
    """Start the process, as a child of none of this process's."""
    folder = str(_PACKAGE.parent)
    code = (
        "import os, sys\n"
        "if os.fork(): os._exit(0)\n"
        "os.setsid()\n"
        f"if {folder!r} not in sys.path: sys.path.insert(0, {folder!r})\n"
        "from llm_sandbox.sandbox.detached.daemon import main\n"
        f"main({far.fileno()})\n"
    )
    known = _PASSED_ON | {CONFIG, *variables_of(Settings.names()).values()}
    passed_on = {
        name: value
        for name, value in os.environ.items()
        if name in known or name.startswith(_PASSED_ON_PREFIXES)
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
    log.seek(max(0, log.tell() - _TOLD))
    words = log.read().decode("utf-8", "replace").strip()
    return BackendUnavailableError(f"the sandbox's daemon did not start: {words or 'it ended'}")


def _warn_again(info: SandboxInfo) -> None:
    """Warn here of what the daemon was warned of, whose own warnings nobody sees."""
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
            info: SandboxInfo = client.ask("hello")
        except BaseException:
            client.close()
            raise
    except ContainerGoneError:
        raise SandboxNotFoundError(record.id) from None
    return DetachedMachine(client, info)
