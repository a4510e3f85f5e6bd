"""Conversion of Modal's sandbox parameters to those of `llm_sandbox.Sandbox.create`."""

import math
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from llm_sandbox.adapters.modal.checks import check_cidrs, check_pair, check_path
from llm_sandbox.adapters.modal.configuration import configuration, refuse
from llm_sandbox.adapters.modal.exception import InvalidError, UnimplementedError
from llm_sandbox.adapters.modal.image_parts import Copy
from llm_sandbox.adapters.modal.mount import Mount
from llm_sandbox.adapters.modal.translation import translated
from llm_sandbox.adapters.modal.volume import Volume
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.backends.terminals import Terminal
from llm_sandbox.limits import Limits
from llm_sandbox.mounts import Bind
from llm_sandbox.mounts import Mount as CoreMount
from llm_sandbox.network import Network, NetworkRules
from llm_sandbox.sandbox.tls_tunnel import TlsPort

__all__ = [
    "check_can_block",
    "copies_of",
    "gpu_of",
    "limits_of",
    "mounts_of",
    "network_of",
    "placement_of",
    "ports_of",
    "terminal_of",
]

_MIB = 1 << 20
_TLS = 443
_UNSIGNED = "tunnels end on this machine's loopback, for which nobody signs certificates"


def limits_of(
    cpu: float | tuple[float, float] | None, memory: int | tuple[int, int] | None
) -> Limits:
    """Return the limits of a sandbox from Modal's CPU and memory requests.

    Memory is always limited, by `Configuration.limits` or by a larger request.

    Raises:
        InvalidError: A number is invalid.
    """
    cpus, most_cpus = check_pair(cpu, "cpu")
    memory_mib, most_mib = check_pair(memory, "memory")
    limits = configuration().limits
    with translated():
        if cpus is not None:
            limits = limits.replace(cpus_requested=float(cpus), cpus=most_cpus)
        if memory_mib is not None:
            asked = math.ceil(memory_mib * _MIB)
            most = max(limits.memory_bytes, asked)
            if most_mib is not None:
                most = math.ceil(most_mib * _MIB)
            limits = limits.replace(memory_bytes=most, memory_requested_bytes=asked)
    return limits


def network_of(
    *,
    block: bool,
    cidrs: Collection[str] | None,
    outbound_cidrs: Collection[str] | None,
    domains: Collection[str] | None,
    has_ports: bool,
) -> Network:
    """Return the network of a sandbox.

    Raises:
        InvalidError: The parameters contradict each other, or one is invalid.
    """
    if cidrs is not None and outbound_cidrs is not None:
        raise InvalidError(
            "cidr_allowlist is the older name of outbound_cidr_allowlist: give one of them",
            parameter="cidr_allowlist",
        )
    ranges = check_cidrs(cidrs, "cidr_allowlist")
    if ranges is None:
        ranges = check_cidrs(outbound_cidrs, "outbound_cidr_allowlist")
    if block:
        if ranges is not None or domains is not None:
            raise InvalidError("block_network goes with no allowlist", parameter="block_network")
        if has_ports:
            raise InvalidError("block_network goes with no ports", parameter="block_network")
        return "blocked"
    if ranges is None and domains is None:
        return configuration().network
    with translated():
        return NetworkRules.allow(
            cidrs=ranges or (), domains=[rule for name in domains or () for rule in _rules(name)]
        )


def check_can_block(backend: str) -> None:
    """Check that a backend can block the network of a sandbox.

    Raises:
        UnimplementedError: Programs of the backend share this machine's network.
    """
    with translated():
        isolation = get_backend(backend).check()
    if isolation.level == "none":
        raise UnimplementedError(
            "block_network",
            backend,
            f"its {isolation.controls['network'].by}",
            hint="modal.configure(backend='bubblewrap')",
        )


def _rules(domain: object) -> list[str]:
    """Return the rules that allow one domain, over TLS only as in Modal."""
    if not isinstance(domain, str):
        raise InvalidError(f"a domain is text, not {domain!r}", parameter="domains")
    if domain == "*":
        return [f"**:{_TLS}"]
    if domain.startswith("*."):
        return [f"**.{domain[2:]}:{_TLS}"]
    return [f"{domain}:{_TLS}"]


def ports_of(
    encrypted: Sequence[int], unencrypted: Sequence[int], h2: Sequence[int]
) -> tuple[tuple[int | TlsPort, ...], list[str]]:
    """Return the ports that get tunnels, and the parameters to record as ignored.

    Raises:
        InvalidError: A port is invalid or given twice.
        UnimplementedError: A port is to be encrypted, and `configure` has not enabled TLS.
    """
    ports: tuple[Any, ...] = (*encrypted, *h2, *unencrypted)
    for port in ports:
        if isinstance(port, bool) or not isinstance(port, int) or not 0 < port < 1 << 16:
            raise InvalidError(f"a port is a number from 1 to 65535, not {port!r}")
    if len(set(ports)) != len(ports):
        raise InvalidError("a port is named twice")
    signs = configuration().tls == "self-signed"
    ignored = []
    if encrypted and not signs:
        ignored.append(
            refuse(
                "encrypted_ports",
                _UNSIGNED,
                hint="modal.configure(tls='self-signed'), which makes a certificate to trust; or "
                "unencrypted_ports=[...]",
            )
        )
    if h2:
        ignored.append(refuse("h2_ports", _UNSIGNED, hint="unencrypted_ports=[...]"))
    if signs:
        return (*map(TlsPort, encrypted), *h2, *unencrypted), ignored
    return ports, ignored


def placement_of(
    *,
    cloud: str | None,
    region: str | Sequence[str] | None,
    scheduler_placement: object,
    proxy: object,
    custom_domain: str | None,
    inbound_cidr_allowlist: Sequence[str] | None,
    oidc: bool,
    runtime: str | None,
    experimental: Mapping[str, object] | None,
) -> list[str]:
    """Return the parameters to record as ignored because they only apply to Modal's cloud.

    Raises:
        InvalidError: `region` and `scheduler_placement` are both given.
        UnimplementedError: One is given, and `Configuration.strict` is True.
    """
    if region is not None and scheduler_placement is not None:
        raise InvalidError("_experimental_scheduler_placement goes with no region")
    here = "there is only this machine"
    given = {
        "cloud=": (cloud, here),
        "region=": (region, here),
        "_experimental_scheduler_placement=": (scheduler_placement, here),
        "proxy=": (proxy, "connections come from this machine's address"),
        "custom_domain=": (custom_domain, "tunnels have this machine's loopback address"),
        "inbound_cidr_allowlist=": (
            inbound_cidr_allowlist,
            "tunnels take connections from this machine alone",
        ),
        "include_oidc_identity_token=": (oidc or None, "nobody here vouches for identities"),
        "runtime=": (runtime, "the backend decides: modal.configure(backend='gvisor')"),
        "experimental_options=": (experimental or None, "they are those of Modal's servers"),
    }
    return [refuse(name, why) for name, (value, why) in given.items() if value is not None]


def gpu_of(gpu: object) -> tuple[str | None, list[str]]:
    """Return the number of GPUs of a sandbox, and the parameters to record as ignored.

    Raises:
        InvalidError: Several kinds are given, or the value is not text.
        UnimplementedError: A kind is named, and `Configuration.strict` is True.
    """
    if gpu is None:
        return None, []
    if not isinstance(gpu, str):
        raise InvalidError("gpu is one kind, as text: 'any' or 'any:2'", parameter="gpu")
    kind, _, count = gpu.partition(":")
    if count and not (count.isdecimal() and int(count) > 0):
        raise InvalidError(f"gpu={gpu!r}: a number above 0 comes after ':'", parameter="gpu")
    ignored = []
    if kind.lower() != "any":
        why = "a kind of GPU cannot be chosen: there are those of this machine"
        ignored.append(refuse(f"gpu={gpu!r}", why, hint="gpu='any', or 'any:2' for two"))
    return count or "1", ignored


def mounts_of(
    volumes: Mapping[str | os.PathLike[str], Volume], files: Sequence[Copy], others: object
) -> dict[str, CoreMount]:
    """Return the mounts of a sandbox: volumes and files of this machine.

    Raises:
        InvalidError: A volume is mounted twice, or a value is not a `Volume`.
    """
    if others:
        raise InvalidError(
            "network_file_systems are those of Modal's servers",
            parameter="network_file_systems",
            hint="volumes={'/data': modal.Volume.from_name(...)}",
        )
    mounts: dict[str, CoreMount] = {}
    names: dict[str, str] = {}
    for path, volume in volumes.items():
        place = check_path(PurePath(path).as_posix(), "volumes")
        if not isinstance(volume, Volume):
            raise InvalidError(
                f"volumes has {type(volume).__name__} at {place}: expected a Volume",
                parameter="volumes",
            )
        if volume.name in names:
            raise InvalidError(
                f"the volume {volume.name!r} is mounted twice: at {names[volume.name]} and {place}",
                parameter="volumes",
            )
        names[volume.name] = place
        mounts[place] = volume._core
    for copy in files:
        mounts[copy.remote] = Bind(copy.local, read_only=True)
    return mounts


def copies_of(mounts: Sequence[Mount]) -> tuple[Copy, ...]:
    """Return the files of this machine that are copied into a new sandbox.

    Raises:
        InvalidError: A value is not a `Mount`.
    """
    for mount in mounts:
        if not isinstance(mount, Mount):
            raise InvalidError(
                f"mounts lists Mount objects, not {type(mount).__name__}",
                parameter="mounts",
                hint="Image.add_local_dir(...)",
            )
    return tuple(Copy(mount.local_path, mount.remote_path) for mount in mounts)


def terminal_of(*, pty: bool, pty_info: object) -> Terminal | None:
    """Return the terminal of a program; None for none.

    Args:
        pty: Whether the program has a terminal.
        pty_info: Modal's description of a terminal, of which size and type are used.
    """
    if pty_info is None:
        return Terminal() if pty else None
    with translated():
        usual = Terminal()
        return Terminal(
            rows=int(getattr(pty_info, "winsz_rows", 0) or usual.rows),
            cols=int(getattr(pty_info, "winsz_cols", 0) or usual.cols),
            term=str(getattr(pty_info, "env_term", "") or usual.term),
        )
