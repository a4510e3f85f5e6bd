"""Creation of a sandbox's machine: choice of the backend, checks, snapshot, daemon."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypedDict

from llm_sandbox.backends.base import Backend, Machine
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.backends.selection import choose, choose_engine
from llm_sandbox.backends.snapshot import Snapshot
from llm_sandbox.backends.terminals import Terminal
from llm_sandbox.exceptions import UnsupportedError
from llm_sandbox.limits import LimitOptions, Limits
from llm_sandbox.mounts import Mount
from llm_sandbox.network import Network
from llm_sandbox.sandbox.detached.record import OnExit
from llm_sandbox.sandbox.detached.request import CreateRequest
from llm_sandbox.sandbox.network import NetworkControl
from llm_sandbox.sandbox.readiness import Readiness
from llm_sandbox.sandbox.secret_files import check_secrets, inject_secrets
from llm_sandbox.sandbox.snapshots import begin_from, create_from
from llm_sandbox.sandbox.tls_tunnel import TlsPort
from llm_sandbox.secrets.plan import SecretPlan
from llm_sandbox.secrets.secret import Secret

__all__ = ["SandboxOptions", "choose_backend", "create_machine", "equip"]

logger = logging.getLogger(__name__)


class SandboxOptions(TypedDict, total=False):
    """Keyword arguments of `Sandbox.create`, for ``**options: Unpack[SandboxOptions]``."""

    backend: str | Backend | None
    image: str | Snapshot | None
    writable_root: bool
    workdir: str
    env: Mapping[str, str] | None
    secrets: Mapping[str, str] | Sequence[Secret] | None
    limits: Limits | LimitOptions | None
    network: Network
    ports: Sequence[int | TlsPort]
    mounts: Mapping[str, Mount] | None
    gpu: str | int | None
    ready: Readiness | None
    pty: bool | Terminal
    timeout: float | None
    idle_timeout: float | None
    name: str | None
    namespace: str
    tags: Mapping[str, str] | None
    on_exit: OnExit


def choose_backend(backend: str | Backend | None, image: str | Snapshot | None) -> Backend:
    """Return the backend for a sandbox.

    Args:
        backend: Backend object or name; None picks one.
        image: Image or snapshot that the sandbox starts from.
    """
    if backend is None and isinstance(image, Snapshot) and image.kind == "filesystem":
        backend = image.backend
    if isinstance(backend, Backend):
        chosen = backend
    elif backend is not None:
        # The registry keeps one object for each spelling.
        chosen = get_backend(str(backend).lower())
    else:
        pulled = image if isinstance(image, str) else None
        chosen, reason = choose() if pulled is None else choose_engine("image=", pulled)
        logger.debug("backend %s: %s", chosen.name, reason)
    if image is None or (isinstance(image, Snapshot) and image.is_file):
        return chosen
    return chosen.with_image(image)


def create_machine(backend: Backend, request: CreateRequest) -> Machine:
    """Create the machine of a sandbox, in this process or in a daemon.

    Raises:
        SandboxError: The machine could not be created; nothing of it is left.
    """
    spec = request.spec
    if request.snapshot is not None:
        spec = begin_from(request.snapshot, backend, spec)
    if spec.writable_root and not backend.writable_root:
        raise UnsupportedError(
            "writable_root",
            backend.name,
            "its sandboxes have no root of their own to write to",
            hint="use the bubblewrap, docker or podman backend",
        )
    check_secrets(request.secrets, request.network, backend.name)
    if request.network == "open":
        logger.warning("network='open': programs in this sandbox reach the host's network")
    if not _is_detached(request):
        return create_from(backend, spec, request.snapshot)
    from llm_sandbox.sandbox.detached.start import create

    return create(backend, replace(request, spec=spec))


def _is_detached(request: CreateRequest) -> bool:
    return bool(
        request.command
        or request.name is not None
        or request.tags is not None
        or request.on_exit == "keep"
        or request.idle_timeout is not None
        or request.namespace != "default"
    )


def equip(
    machine: Machine,
    control: NetworkControl,
    network: Network,
    ports: Iterable[int | TlsPort],
    secrets: SecretPlan,
) -> None:
    """Set up the network, tunnels and secret files of a new machine, or destroy it.

    Args:
        machine: The machine.
        control: Control of its network.
        network: Network setting.
        ports: Ports inside that get a tunnel.
        secrets: Secrets of the sandbox.

    Raises:
        SandboxError: One of them could not be set up; nothing of the machine is left.
    """
    try:
        control.open(network, ports, secrets.bindings)
        inject_secrets(machine, secrets)
    except BaseException:
        machine.destroy()
        raise
