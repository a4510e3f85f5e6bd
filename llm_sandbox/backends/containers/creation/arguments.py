"""Arguments for the creation of a container, isolated unless the caller disables it by name."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from llm_sandbox.backends.base import Control, MachineSpec
from llm_sandbox.backends.containers.creation.effective_config import EffectiveConfig
from llm_sandbox.backends.containers.creation.mount_plan import MemoryFileSystems, MountPlan
from llm_sandbox.backends.hardening.seccomp_profile import profile_text
from llm_sandbox.backends.mounts import writes_to_host
from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.backends.options.immutable import to_mutable
from llm_sandbox.backends.options.mount_points import bind_strings, immutable_mount
from llm_sandbox.backends.options.unsafe_options import ADDED_CAPABILITIES, is_unlimited
from llm_sandbox.exceptions import UnsupportedError, ValidationError
from llm_sandbox.guest.constants import USER_ID
from llm_sandbox.limits import LimitOptions, Limits

__all__ = [
    "CPU_PERIOD_US",
    "MEMORY_ALLOWANCE",
    "PROCESS_ALLOWANCE",
    "CreateArguments",
    "create_arguments",
    "device_requests",
]

MEMORY_ALLOWANCE: Final = 192 << 20
"""Bytes that a container may use beyond the limit of its code: for process 1, the relay of its
connection, the file service and the zygote."""

PROCESS_ALLOWANCE: Final = 16
"""Processes that a container may have beyond the limit of its code: process 1, the relay, the
zygote, two file services, and short-lived ones."""

_OPEN_FILES: Final = 4096
"""Limit of open files of any process in the container; process 1 lowers it for code, and itself
holds descriptors for all programs. Few engines may set a limit above their own."""

_PODMAN_PROCESSES: Final = 4096
"""Limit of one user's processes in all containers together. Podman's default is the maximum, which
the kernel refuses to a service that may not raise its own limit."""

_UNLIMITED: Final = {"memory_bytes": 1 << 50, "processes": 1 << 22}
"""Values above what any machine has."""

_LOCKED_BYTES: Final = 64 << 10
_OOM_SCORE: Final = 500
"""Score, up to 1000, at which the kernel kills containers before other programs of the machine."""

_SHARES_OF_CPU: Final = 1024
_LEAST_SHARES: Final = 2
"""Shares of one processor in the kernel, and the fewest that it accepts."""

CPU_PERIOD_US: Final = 100_000
"""The engine's default."""

_LIMITS: Final = {
    "mem_limit": "memory_bytes",
    "pids_limit": "processes",
    "shm_size": "shm_bytes",
}
"""Runtime config to the field of `Limits` that it changes."""

_TRANSLATED: Final = frozenset(
    {
        "cap_add",
        "cap_drop",
        "cpu_count",
        "cpus",
        "ipc_mode",
        "labels",
        "mem_limit",
        "mounts",
        "nano_cpus",
        "network",
        "network_disabled",
        "network_mode",
        "security_opt",
        "shm_size",
        "tmpfs",
        "ulimits",
        "user",
        "volumes",
    }
)
"""Runtime configs that are merged with other arguments; all others are passed unchanged."""


@dataclass(frozen=True)
class CreateArguments:
    """Arguments of a container, and the isolation that they give."""

    keywords: Mapping[str, Any]
    """For docker-py's ``client.containers.create``, besides the image and the command."""
    spec: MachineSpec
    """The machine, with the limits and the network of the runtime configs."""
    rlimits: Mapping[str, int]
    """Per-process limits of the caller, by names without prefix: ``{"NOFILE": 1024}``. They replace
    those of ``spec.limits``."""
    writable: tuple[str, ...]
    """Paths that code may write to besides the working directory, ``/tmp`` and ``/dev``."""
    modes: Mapping[str, int]
    """Permissions of folders that process 1 sets before code runs: engines ignore the mode of a
    file system where the image has the folder already."""
    effective: EffectiveConfig
    """The isolation and limits of the container."""
    facts: Mapping[str, Any]
    """The engine's description of itself (Docker's ``/info``)."""

    @property
    def user(self) -> str:
        """User of the code; process 1 is always user 0, with few capabilities."""
        return self.effective.user

    @property
    def mount_points(self) -> list[str]:
        """Mount points of the caller and of the machine, sorted."""
        return sorted(
            {*self.keywords["tmpfs"], *(one.target for one in self.effective.mount_points)}
        )

    def controls(self) -> dict[str, Control]:
        """Return the controls of the isolation report."""
        return self.effective.controls(self.facts)


def create_arguments(
    spec: MachineSpec,
    options: ContainerOptions,
    *,
    engine: str = "docker",
    labels: Mapping[str, str] | None = None,
    volumes: Mapping[str, Mapping[str, str]] | None = None,
    environment: Mapping[str, str] | None = None,
    image_volumes: Sequence[str] = (),
    facts: Mapping[str, Any] | None = None,
    plan: MountPlan | None = None,
) -> CreateArguments:
    """Merge the specification of a machine with the container options of the caller.

    Runtime configs win. A ``mem_limit`` or ``pids_limit`` is then that of the whole container,
    without an allowance for the sandbox's own processes.

    Args:
        spec: The machine.
        options: The caller's options.
        engine: ``docker`` or ``podman``, whose mount options differ.
        labels: Labels of this library, besides those of the caller.
        volumes: Volumes of this library, as docker-py has them, besides those of the caller.
        environment: Variables of process 1, besides those of the image.
        image_volumes: Paths that the image declares as volumes; each gets a file system in memory
            as large as ``/tmp``, which hides the image's files there.
        facts: The engine's description of itself (Docker's ``/info``).
        plan: Mounts of the machine; None for none.

    Raises:
        UnsupportedError: The engine lacks the requested graphics processors.
        ValidationError: Options contradict each other or the machine.
    """
    given = to_mutable(options.runtime_configs)
    spec = _apply(spec, given)
    network = _network_of(spec, given)
    as_owner = None if plan is None else plan.user
    user = str(given.get("user", as_owner or f"{USER_ID}:{USER_ID}"))
    podman = engine == "podman"
    files = MemoryFileSystems(
        spec, options, user=user, podman=podman, image_volumes=image_volumes, plan=plan
    )
    mounted = [] if plan is None else plan.mounts
    limits = spec.limits
    security, seccomp = _security_options(
        given.get("security_opt", ()), set_id_bits=not writes_to_host(spec.mounts)
    )
    keywords: dict[str, Any] = {
        "user": "0:0",
        # Process 1 is the command itself, without the image's entrypoint.
        "entrypoint": [],
        "working_dir": "/",
        "hostname": "sandbox",
        "environment": dict(environment or {}),
        "stdin_open": True,
        "tty": False,
        "auto_remove": True,
        "init": False,
        # Process 1 ends with its host, and ignores other signals.
        "stop_signal": "SIGKILL",
        # Those of the image, or of the user's client settings, do not apply.
        "healthcheck": {"test": ["NONE"]},
        "use_config_proxy": False,
        "log_config": {"type": "none", "config": {}},
        "network_mode": network,
        "ipc_mode": given.get("ipc_mode", "private"),
        # The default of version 1 shows the control groups of the machine.
        "cgroupns": given.get("cgroupns", "private"),
        "cap_drop": ["ALL"],
        "cap_add": sorted({*ADDED_CAPABILITIES, *map(_capability, given.get("cap_add", ()))}),
        "security_opt": security,
        "read_only": not spec.writable_root,
        "pids_limit": limits.processes + PROCESS_ALLOWANCE,
        "oom_score_adj": _OOM_SCORE,
        "ulimits": _ulimits(limits, given.get("ulimits", ()), podman=podman),
        "tmpfs": files.tmpfs,
        "labels": {**_labels(given.get("labels", {})), **(labels or {})},
        "volumes": [*bind_strings(given.get("volumes", ())), *bind_strings(volumes or {})],
        "mounts": [
            *(to_mutable(immutable_mount(m)) for m in (*given.get("mounts", ()), *options.mounts)),
            *mounted,
        ],
    }
    if spec.gpu is not None:
        keywords["device_requests"] = device_requests(spec.gpu, engine=engine, facts=facts or {})
    keywords |= _memory(limits, given) | _requests(limits)
    if limits.cpus is not None and "cpu_quota" not in given:
        keywords["nano_cpus"] = round(limits.cpus * 1e9)
    if not files.own_shm:
        keywords["shm_size"] = limits.shm_bytes
    if "uts_mode" in given or network.startswith("container:"):
        del keywords["hostname"]  # it is that of the other namespace
    if "network" in given and network != "none":
        # With this name the client also accepts addresses and aliases (networking_config).
        keywords["network"] = keywords.pop("network_mode")
    keywords |= {name: value for name, value in given.items() if name not in _TRANSLATED}
    effective = EffectiveConfig(
        network=spec.network,
        network_name=network,
        user=user,
        memory_bytes=keywords.get("mem_limit"),
        processes=None if is_unlimited(keywords["pids_limit"]) else keywords["pids_limit"],
        cpus=limits.cpus,
        cpus_requested=limits.cpus_requested,
        memory_requested_bytes=limits.memory_requested_bytes,
        gpu=spec.gpu,
        read_only_root=bool(keywords["read_only"]),
        workdir_bytes=files.size_of(spec.workdir),
        tmp_bytes=files.size_of("/tmp"),  # noqa: S108 - inside
        shm_bytes=files.size_of("/dev/shm") if files.own_shm else limits.shm_bytes,  # noqa: S108
        inodes=files.inodes,
        seccomp=seccomp,
        mount_points=(*options.mount_points(), *(() if plan is None else plan.mount_points)),
        risks=options.risks(),
    )
    rlimits = {_limit_name(entry): _hard(entry) for entry in given.get("ulimits", ())}
    writable = files.writable if effective.read_only_root else ("/",)
    return CreateArguments(
        keywords, spec, rlimits, writable, files.modes, effective, dict(facts or {})
    )


def _apply(spec: MachineSpec, given: Mapping[str, Any]) -> MachineSpec:
    """Return the machine with the limits and the network of the runtime configs."""
    limits = spec.limits
    for name, field in _LIMITS.items():
        if name not in given:
            continue
        value = given[name]
        if field in _UNLIMITED and is_unlimited(value):
            value = _UNLIMITED[field]
        elif name != "pids_limit":
            value = Limits.parse_size(int(value) if isinstance(value, float) else value, name)
        limits = limits.replace(**cast(LimitOptions, {field: value}))
    cpus = _cpus(given)
    if cpus is not None:
        limits = limits.replace(cpus=cpus)
    network = given.get("network", given.get("network_mode"))
    if given.get("network_disabled"):
        network = "none"
    if network is None:
        return replace(spec, limits=limits)
    return replace(spec, limits=limits, network="blocked" if network == "none" else "open")


def _cpus(given: Mapping[str, Any]) -> float | None:
    # Engines honour `cpu_count` on Windows only; its meaning is the same as that of `cpus`.
    for name, scale in (("cpus", 1.0), ("cpu_count", 1.0), ("nano_cpus", 1e-9)):
        if name in given:
            return float(given[name]) * scale
    if given.get("cpu_quota", 0) > 0:
        return float(given["cpu_quota"] / given.get("cpu_period", CPU_PERIOD_US))
    return None


def _network_of(spec: MachineSpec, given: Mapping[str, Any]) -> str:
    if spec.network == "blocked":
        for name in ("ports", "publish_all_ports", "links", "networking_config"):
            if given.get(name):
                raise ValidationError(
                    f"runtime_configs[{name!r}] needs a network, and the sandbox has none",
                    parameter="runtime_configs",
                    hint="open it: network='open'",
                )
        return "none"
    return str(given.get("network", given.get("network_mode", "bridge")))


def _memory(limits: Limits, given: Mapping[str, Any]) -> dict[str, Any]:
    if "mem_limit" not in given:
        whole = limits.memory_bytes + MEMORY_ALLOWANCE
    elif is_unlimited(given["mem_limit"]):
        return {}
    else:
        whole = limits.memory_bytes
    # Equal limits leave no room for swap.
    return {"mem_limit": whole, "memswap_limit": given.get("memswap_limit", whole)}


def _requests(limits: Limits) -> dict[str, Any]:
    """Return the shares of a busy machine that are requested; runtime configs win."""
    found: dict[str, Any] = {}
    if limits.cpus_requested is not None:
        found["cpu_shares"] = max(_LEAST_SHARES, round(limits.cpus_requested * _SHARES_OF_CPU))
    if limits.memory_requested_bytes is not None:
        found["mem_reservation"] = limits.memory_requested_bytes
    return found


def _security_options(given: list[str] | tuple[()], *, set_id_bits: bool) -> tuple[list[str], str]:
    """Return the security options, and whose seccomp profile they have."""
    profile = profile_text(set_id_bits=set_id_bits)
    ours = {"no-new-privileges": "no-new-privileges:true", "seccomp": f"seccomp={profile}"}
    seccomp = "own"
    others = []
    for option in given:
        name = option.replace(":", "=", 1).partition("=")[0]
        if name == "seccomp":
            seccomp = "none" if option == "seccomp=unconfined" else "caller"
        if name in ours:
            ours[name] = option
        else:
            others.append(option)
    return [*ours.values(), *others], seccomp


def _capability(name: str) -> str:
    return str(name).upper().removeprefix("CAP_")


def _ulimits(
    limits: Limits, given: list[dict[str, Any]] | tuple[()], *, podman: bool
) -> list[dict[str, Any]]:
    files = max(_OPEN_FILES, limits.open_files)
    # No limit of processes, except for Podman: the kernel counts those of a user in all containers.
    merged = {
        "NOFILE": {"Name": "nofile", "Soft": files, "Hard": files},
        "CORE": {"Name": "core", "Soft": 0, "Hard": 0},
        "MEMLOCK": {"Name": "memlock", "Soft": _LOCKED_BYTES, "Hard": _LOCKED_BYTES},
    }
    if podman:
        most = _PODMAN_PROCESSES
        merged["NPROC"] = {"Name": "nproc", "Soft": most, "Hard": most}
    merged |= {_limit_name(entry): entry for entry in given}
    return list(merged.values())


def _limit_name(entry: Mapping[str, Any]) -> str:
    name = entry.get("Name", entry.get("name"))
    if not name:
        raise ValidationError("an entry of ulimits has no name", parameter="runtime_configs")
    return str(name).upper()


def _hard(entry: Mapping[str, Any]) -> int:
    given = {str(name).lower(): value for name, value in entry.items()}
    return int(given.get("hard") or given.get("soft") or 0)


def _labels(given: Mapping[str, str] | list[str]) -> dict[str, str]:
    if isinstance(given, Mapping):
        return dict(given)
    return dict(str(entry).partition("=")[::2] for entry in given)


_CDI_KIND: Final = "nvidia.com/gpu"
_FROM_CDI: Final = re.compile(rf"{re.escape(_CDI_KIND)}=(.+)")
_CAPABILITIES: Final = [["gpu"]]


def device_requests(
    gpu: str | int, *, engine: str, facts: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the graphics processors to request, as docker-py's ``device_requests``.

    Args:
        gpu: ``all``, a number of processors, or names of devices with commas between them.
        engine: The engine's name.
        facts: The engine's description of itself (Docker's ``/info``).

    Raises:
        UnsupportedError: The engine does not have them; the reason lists those that it has.
    """
    if engine == "podman":
        # See `podman.compatibility`: it accepts such a request, and ignores it.
        raise UnsupportedError(
            f"gpu={gpu!r}",
            engine,
            "Podman does not hear of devices through Docker's interface",
            hint="use backend='docker' with the NVIDIA container toolkit",
        )
    named = [] if isinstance(gpu, int) or gpu == "all" else _names(gpu)
    if "nvidia" in (facts.get("Runtimes") or {}):
        if named:
            return [{"Driver": "nvidia", "DeviceIDs": named, "Capabilities": _CAPABILITIES}]
        count = gpu if isinstance(gpu, int) else -1
        return [{"Driver": "nvidia", "Count": count, "Capabilities": _CAPABILITIES}]
    known = _from_cdi(facts)
    if not known:
        runtimes = ", ".join(sorted(facts.get("Runtimes") or {})) or "unknown"
        raise UnsupportedError(
            f"gpu={gpu!r}",
            engine,
            f"the engine has no nvidia runtime (it has: {runtimes}) and has found no device "
            f"{_CDI_KIND}",
            hint="install the NVIDIA container toolkit and restart the engine, then look: "
            "docker info",
        )
    wanted = named or (sorted(known - {"all"})[:gpu] if isinstance(gpu, int) else ["all"])
    missing = [name for name in wanted if name not in known]
    if missing or (isinstance(gpu, int) and len(wanted) < gpu):
        raise UnsupportedError(
            f"gpu={gpu!r}",
            engine,
            f"the engine has found: {', '.join(f'{_CDI_KIND}={name}' for name in sorted(known))}",
        )
    return [{"Driver": "cdi", "DeviceIDs": [f"{_CDI_KIND}={name}" for name in wanted]}]


def _names(gpu: str) -> list[str]:
    return [name for part in gpu.split(",") if (name := part.strip().removeprefix(f"{_CDI_KIND}="))]


def _from_cdi(facts: Mapping[str, Any]) -> set[str]:
    found = set()
    for device in facts.get("DiscoveredDevices") or ():
        match = _FROM_CDI.fullmatch(str(device.get("ID", "")))
        if match:
            found.add(match[1])
    return found
