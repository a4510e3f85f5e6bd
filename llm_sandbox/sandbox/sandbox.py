"""The sandbox: a machine for programs that nobody vouches for."""

import builtins
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Self

from llm_sandbox.backends.base import Backend, Machine, MachineSpec
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.backends.selection import choose, choose_engine
from llm_sandbox.backends.snapshot import Snapshot
from llm_sandbox.backends.terminals import Terminal
from llm_sandbox.exceptions import UnsupportedError, ValidationError
from llm_sandbox.limits import LimitOptions, Limits, validate_timeout
from llm_sandbox.mounts import Mount
from llm_sandbox.network import Network
from llm_sandbox.sandbox.checks import check_argv, check_entry_terminal, check_env, check_flag
from llm_sandbox.sandbox.detached.record import OnExit
from llm_sandbox.sandbox.lifetime import SandboxLifetime
from llm_sandbox.sandbox.network import machine_network
from llm_sandbox.sandbox.networking import SandboxNetworking
from llm_sandbox.sandbox.readiness import (
    Readiness,
    SandboxReadiness,
    check_readiness,
    readiness_facts,
)
from llm_sandbox.sandbox.secret_files import check_secrets
from llm_sandbox.sandbox.snapshots import begin_from, create_from
from llm_sandbox.sandbox.tls_tunnel import TlsPort
from llm_sandbox.secrets.plan import SecretPlan, plan_secrets
from llm_sandbox.secrets.secret import Secret

if TYPE_CHECKING:
    from llm_sandbox.sandbox.detached.record import Record
    from llm_sandbox.sandbox.detached.state_dir import StateDir

__all__ = ["Sandbox"]

logger = logging.getLogger(__name__)


class Sandbox(SandboxReadiness, SandboxLifetime, SandboxNetworking):
    """A machine with files, processes and an end; made by `Sandbox.create`.

    Safe to use from several threads. As a context manager it is destroyed at the block's end, or
    let go of if it was created with ``on_exit="keep"`` or attached to.

    Raises:
        SessionClosedError: By every method but `destroy`, `detach`, `poll`, `wait` and those that
            say what it is, after `destroy` or `detach`.
        ContainerGoneError: By the same, after the sandbox has ended by itself.
    """

    @classmethod
    def create(
        cls,
        *command: str,
        backend: str | Backend | None = None,
        image: str | Snapshot | None = None,
        writable_root: bool = False,
        workdir: str = "/sandbox",
        env: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | Sequence[Secret] | None = None,
        limits: Limits | LimitOptions | None = None,
        network: Network = "blocked",
        ports: Sequence[int | TlsPort] = (),
        mounts: Mapping[str, Mount] | None = None,
        gpu: str | int | None = None,
        ready: Readiness | None = None,
        pty: bool | Terminal = False,
        timeout: float | None = None,
        idle_timeout: float | None = None,
        name: str | None = None,
        namespace: str = "default",
        tags: Mapping[str, str] | None = None,
        on_exit: OnExit = "destroy",
    ) -> Self:
        """Make a sandbox.

        One with a command, a name, tags, an idle timeout or ``on_exit="keep"`` has a *daemon*: a
        small process of this machine that it lives by, so that other processes can attach to it,
        and its times are kept whatever becomes of this one. Any other lives in this process.

        Args:
            command: The entry: a program that is started with the sandbox, which ends with it;
                none for a sandbox that waits for programs.
            backend: Where it lives, by name or as an object; None picks one that isolates, or the
                one that a snapshot was made by.
            image: Image of a container backend, or what `snapshot` returned; None for the image of
                Python sessions.
            writable_root: Whether programs may change files outside of the working directory and
                ``/tmp``, as far as their user may; what they change is the sandbox's alone.
            workdir: Its working directory, absolute.
            env: Environment variables of every program.
            secrets: Values by name, which are more of them and appear in no message of ours; or
                `Secret` objects, which may be files or placeholders. `env` wins over them.
            limits: What it may use, as `Limits` or by their names, such as ``{"memory": "2g"}``;
                None for the defaults of `Limits`.
            network: ``blocked``, ``open`` for the host's network, ``internet`` for what is public
                of it, or `NetworkRules` for what they allow.
            ports: Ports inside that are to be reached from this machine, a `TlsPort` over TLS; see
                `tunnels`.
            mounts: What of this machine it is given, by path inside: `Bind`, `Volume`, `Tmpfs`.
            gpu: Graphics processors: ``all``, how many, or names of devices with commas between
                them; None for none.
            ready: How it is looked at whether it is ready: `PortReady` or `CommandReady`; see
                `wait_until_ready`.
            pty: Whether the entry has a terminal of its own, True for one of the usual size; see
                `exec`. Every handle's `entry` types there, shows it and can `Process.resize` it.
            timeout: Seconds until it ends by itself, even if this process is stuck; None for no
                limit.
            idle_timeout: Seconds after which it ends by itself when nothing was done with it: no
                program ran besides the entry, no file was read or written, nothing was written to
                the entry; None for no limit.
            name: A name to find it by, which no other living one in the namespace has: 1 to 64
                letters, digits, ``.``, ``_`` or ``-``.
            namespace: Where the name counts.
            tags: Texts to find it by.
            on_exit: ``destroy`` ends it at the end of a ``with`` block, and with this process,
                however that ends. ``keep`` leaves it to its timeouts and to whoever attaches to it.

        Raises:
            BackendUnavailableError: The backend does not work here; the hint says what to do.
            LaunchError: The entry could not be started.
            NameInUseError: A living sandbox has the name.
            SecurityError: A mount would give away what nobody should; the hint says how it is done.
            UnsupportedError: The backend cannot honour an option.
            ValidationError: An option is not acceptable.
        """
        if on_exit not in ("destroy", "keep"):
            raise ValidationError("on_exit is 'destroy' or 'keep'", parameter="on_exit")
        env, plan = check_env("env", env), plan_secrets(secrets)
        idle_timeout = validate_timeout(idle_timeout, "idle_timeout")
        probe = readiness_facts(check_readiness(ready))
        terminal = check_entry_terminal(pty, command)
        spec = MachineSpec(
            *(workdir, Limits.parse(limits), machine_network(network), validate_timeout(timeout)),
            mounts=mounts or {},
            gpu=gpu,
            writable_root=check_flag("writable_root", writable_root),
        )
        chosen = _choose(backend, image)
        saved = image if isinstance(image, Snapshot) else None
        if saved is not None:
            spec = begin_from(saved, chosen, spec)
        if spec.writable_root and not chosen.writable_root:
            raise UnsupportedError(
                "writable_root",
                chosen.name,
                "its sandboxes have no root of their own to write to",
                hint="use the bubblewrap, docker or podman backend",
            )
        check_secrets(plan, network, chosen.name)
        if network == "open":
            logger.warning("network='open': programs in this sandbox reach the host's network")
        if not (command or name is not None or tags is not None or on_exit == "keep") and (
            idle_timeout is None and namespace == "default"
        ):
            machine = create_from(chosen, spec, saved)
            made = cls.from_machine(machine, env, plan, network=network, ports=ports)
            made._take_readiness(probe)
            return made
        from llm_sandbox.sandbox.detached.record import check_name, check_tags
        from llm_sandbox.sandbox.detached.start import make

        if command:
            check_argv(command)
        machine = make(
            chosen,
            spec,
            command=command,
            terminal=terminal,
            env=env,
            secrets=plan,
            name=None if name is None else check_name(name, "name"),
            namespace=check_name(namespace, "namespace"),
            tags=check_tags(tags),
            on_exit=on_exit,
            idle_timeout=idle_timeout,
            network=network,
            ports=ports,
            ready=probe,
            snapshot=saved,
        )
        sandbox = cls(machine, env, plan)
        sandbox._take_readiness(probe)
        sandbox._lets_go = on_exit == "keep"
        if command:
            sandbox._find_entry()
        return sandbox

    @classmethod
    def from_machine(
        cls,
        machine: Machine,
        env: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | Sequence[Secret] | SecretPlan | None = None,
        *,
        network: Network = "blocked",
        ports: Sequence[int | TlsPort] = (),
    ) -> Self:
        """Make a sandbox of a machine, which it owns from then on; arguments as in `create`."""
        sandbox = cls(machine, env, secrets)
        sandbox._lets_go = machine.lets_go
        sandbox._open_network(network, ports)
        return sandbox

    @classmethod
    def attach(cls, id: str) -> Self:
        """Return a handle of a living sandbox that has a daemon; see `create`.

        Its environment, secrets and working directory are those it was created with.

        Args:
            id: Its id.

        Raises:
            SandboxNotFoundError: There is none.
            SecurityError: What is found by that id belongs to another user, or its place does.
            ValidationError: It is no id of such a sandbox.
        """
        from llm_sandbox.sandbox.detached.registry import find
        from llm_sandbox.sandbox.detached.state_dir import StateDir

        with StateDir() as place:
            return cls._attach(place, find(place, id))

    @classmethod
    def from_name(cls, name: str, namespace: str = "default") -> Self:
        """Return a handle of the living sandbox that has a name; as `attach`."""
        from llm_sandbox.sandbox.detached.record import check_name
        from llm_sandbox.sandbox.detached.registry import find_by_name
        from llm_sandbox.sandbox.detached.state_dir import StateDir

        check_name(name, "name")
        check_name(namespace, "namespace")
        with StateDir() as place:
            return cls._attach(place, find_by_name(place, name, namespace))

    @classmethod
    def list(
        cls, tags: Mapping[str, str] | None = None, namespace: str | None = None
    ) -> builtins.list[Self]:
        """Return handles of the living sandboxes of this user that have a daemon, newest first.

        Args:
            tags: Tags that each of them has, with these values; None for any.
            namespace: Their namespace; None for any.
        """
        from llm_sandbox.exceptions import BackendError, SandboxNotFoundError
        from llm_sandbox.sandbox.detached.record import check_name, check_tags
        from llm_sandbox.sandbox.detached.registry import live_records
        from llm_sandbox.sandbox.detached.state_dir import StateDir

        if namespace is not None:
            check_name(namespace, "namespace")
        found = []
        with StateDir() as place:
            for record in live_records(place, check_tags(tags), namespace):
                try:
                    found.append(cls._attach(place, record))
                except (SandboxNotFoundError, BackendError) as error:
                    logger.debug("sandbox %s is left out: %s", record.id, error)
        return found

    @classmethod
    def gc(cls) -> builtins.list[str]:
        """Remove what sandboxes have left whose daemon was killed, and forget those that ended.

        Snapshots whose time to live is over are removed as well, and halves of others.

        Returns:
            The ids of those whose daemon was killed.
        """
        from llm_sandbox.sandbox.detached.registry import clean

        return clean()

    @classmethod
    def _attach(cls, place: "StateDir", record: "Record") -> Self:
        from llm_sandbox.sandbox.detached.start import attach

        machine = attach(place, record)
        sandbox = cls(machine, machine.info.env, machine.info.secrets)
        sandbox._take_readiness(machine.info.ready)
        sandbox._lets_go = True
        sandbox._find_entry()
        return sandbox

    def __repr__(self) -> str:
        state = self.end_reason or "running"
        named = "" if self.name is None else f" {self.name!r}"
        return f"<Sandbox {self.id}{named}, {self.backend}, {state}>"

    def _find_entry(self) -> None:
        for one in self._machine.programs() or ():
            if one.is_entry:
                self._reattach(one)


def _choose(backend: str | Backend | None, image: str | Snapshot | None) -> Backend:
    """Return the backend that a sandbox is made by."""
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
