"""Sandbox: an isolated machine for untrusted programs."""

import builtins
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Self, Unpack

from llm_sandbox.backends.base import Backend, Isolation, Machine, MachineSpec
from llm_sandbox.backends.snapshot import Snapshot, SnapshotKind
from llm_sandbox.backends.terminals import Terminal
from llm_sandbox.data import ProcessResult
from llm_sandbox.exceptions import SessionClosedError
from llm_sandbox.limits import LimitOptions, Limits, validate_timeout
from llm_sandbox.mounts import Mount
from llm_sandbox.network import Network, NetworkEvent
from llm_sandbox.sandbox.checks import check_argv, check_entry_terminal, check_env, check_flag
from llm_sandbox.sandbox.creation import choose_backend, create_machine, equip
from llm_sandbox.sandbox.detached.record import OnExit, check_name, check_on_exit, check_tags
from llm_sandbox.sandbox.detached.request import CreateRequest
from llm_sandbox.sandbox.file_service import FileService
from llm_sandbox.sandbox.files import ModifiedFlag, SandboxFiles
from llm_sandbox.sandbox.network import NetworkControl, SandboxNetwork, machine_network
from llm_sandbox.sandbox.process import Pipe, Process, check_result
from llm_sandbox.sandbox.programs import ProgramTable
from llm_sandbox.sandbox.readiness import (
    Readiness,
    check_readiness,
    probe_spec,
    read_probe,
    wait_for_end,
    wait_until,
)
from llm_sandbox.sandbox.redirect import ErrorTarget, OutputTarget
from llm_sandbox.sandbox.snapshots import save
from llm_sandbox.sandbox.tls_tunnel import TlsPort
from llm_sandbox.sandbox.tunnels import Tunnel
from llm_sandbox.secrets.plan import SecretPlan, plan_secrets
from llm_sandbox.secrets.secret import Secret

__all__ = ["Sandbox"]

_EXIT_CODES = {"deadline": 124, "idle": 124}
_TERMINATED = 137


class Sandbox:
    """A machine with files, processes and a lifetime; created by `Sandbox.create`.

    Safe to use from several threads. At the end of a ``with`` block it is destroyed, or detached
    from if it was created with ``on_exit="keep"`` or attached to.

    Raises:
        SessionClosedError: By every method but `destroy`, `detach`, `poll`, `wait` and plain
            attributes, after `destroy` or `detach`.
        ContainerGoneError: By the same methods, after the sandbox has ended by itself.
    """

    def __init__(
        self,
        machine: Machine,
        env: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | Sequence[Secret] | SecretPlan | None = None,
    ) -> None:
        self._machine = machine
        self._env = check_env("env", env)
        self._secrets = plan_secrets(secrets)
        self._service = FileService(
            machine.open_files, machine.isolation.backend, activity=machine.active
        )
        self._modified = ModifiedFlag()
        mounts = machine.spec.mounts.items()
        writable = [path for path, mount in mounts if not getattr(mount, "read_only", False)]
        self._files = SandboxFiles(self._service, machine.spec.workdir, self._modified, writable)
        self._programs = ProgramTable(machine, self._files, self._modified)
        self._network: NetworkControl = machine.network or SandboxNetwork(machine)
        self._ready: Readiness | None = None
        self._closed: tuple[str, str] | None = None

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
        """Create a sandbox.

        With a command, a name, tags, an idle timeout or ``on_exit="keep"`` it is *detached*: a
        small process of this computer, its daemon, or on Kubernetes the pod itself, owns it, so
        that other processes can attach to it and its timeouts outlast this process. Any other
        sandbox lives in this process.

        Args:
            command: Entry command, with which the sandbox starts and ends; empty for none.
            backend: Backend by name or as an object; None picks one that isolates, or that of a
                snapshot.
            image: Image of a container backend, or a snapshot; None for the image of Python
                sessions.
            writable_root: Whether programs may change files outside of the working directory and
                ``/tmp``, as far as their user may; the changes are private to the sandbox.
            workdir: Working directory, absolute.
            env: Environment variables of every program.
            secrets: Values by name, which become variables and appear in no message; or `Secret`
                objects, which may be files or placeholders. `env` wins over them.
            limits: Resource limits, as `Limits` or by name, such as ``{"memory": "2g"}``; None for
                the defaults of `Limits`.
            network: ``blocked``, ``open`` for the host's network, ``internet`` for public
                addresses, or `NetworkRules`.
            ports: Ports inside to reach from this computer, a `TlsPort` over TLS; see `tunnels`.
            mounts: `Bind`, `Volume` and `Tmpfs` mounts by path inside.
            gpu: Graphics processors: ``all``, a number, or names of devices with commas between
                them; None for none.
            ready: Readiness probe, `PortReady` or `CommandReady`; see `wait_until_ready`.
            pty: Whether the entry command has a terminal, True for one of the usual size; see
                `exec`. Every handle's `entry` types there, shows it and can `Process.resize` it.
            timeout: Seconds until it ends by itself, even if this process hangs; None for no limit.
            idle_timeout: Seconds without activity until it ends by itself: no program ran besides
                the entry command, no file was read or written, nothing was written to the entry
                command; None for no limit.
            name: Name that is unique among the living sandboxes of the namespace: 1 to 64 letters,
                digits, ``.``, ``_`` or ``-``.
            namespace: Namespace of the name.
            tags: Labels to find it by.
            on_exit: ``destroy`` ends it at the end of a ``with`` block, and with this process
                however that ends. ``keep`` leaves it to its timeouts and to handles that attach.

        Raises:
            BackendUnavailableError: The backend does not work here; the hint has the remedy.
            LaunchError: The entry command could not be started.
            NameInUseError: A living sandbox has the name.
            SecurityError: A mount would expose a sensitive path; the hint has the safe way.
            UnsupportedError: The backend cannot honour an option.
            ValidationError: An option is invalid.
        """
        if command:
            check_argv(command)
        request = CreateRequest(
            spec=MachineSpec(
                workdir,
                Limits.parse(limits),
                machine_network(network),
                validate_timeout(timeout),
                mounts=mounts or {},
                gpu=gpu,
                writable_root=check_flag("writable_root", writable_root),
            ),
            env=check_env("env", env),
            secrets=plan_secrets(secrets),
            network=network,
            ports=ports,
            command=command,
            terminal=check_entry_terminal(pty, command),
            ready=probe_spec(check_readiness(ready)),
            snapshot=image if isinstance(image, Snapshot) else None,
            name=None if name is None else check_name(name, "name"),
            namespace=check_name(namespace, "namespace"),
            tags=None if tags is None else check_tags(tags),
            on_exit=check_on_exit(on_exit),
            idle_timeout=validate_timeout(idle_timeout, "idle_timeout"),
        )
        machine = create_machine(choose_backend(backend, image), request)
        sandbox = cls.from_machine(
            machine, request.env, request.secrets, network=network, ports=ports
        )
        sandbox._ready = ready
        if command:
            sandbox._programs.find_entry()
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
        """Create a sandbox that owns a machine from then on; arguments as in `create`."""
        sandbox = cls(machine, env, secrets)
        if machine.network is None:  # else its daemon has done this
            equip(machine, sandbox._network, network, ports, sandbox._secrets)
        return sandbox

    @classmethod
    def attach(cls, id: str) -> Self:
        """Return a handle of a living detached sandbox, with its environment and secrets.

        Raises:
            SandboxNotFoundError: There is no such sandbox.
            SecurityError: The sandbox, or the state folder, belongs to another user.
            ValidationError: `id` is not the id of a detached sandbox.
        """
        from llm_sandbox.sandbox.detached.start import attach_by_id

        return cls._attached(attach_by_id(id))

    @classmethod
    def from_name(cls, name: str, namespace: str = "default") -> Self:
        """Return a handle of the living sandbox of that name; see `attach`."""
        from llm_sandbox.sandbox.detached.start import attach_by_name

        return cls._attached(attach_by_name(name, namespace))

    @classmethod
    def list(
        cls, tags: Mapping[str, str] | None = None, namespace: str | None = None
    ) -> builtins.list[Self]:
        """Return handles of this user's living detached sandboxes, newest first.

        Only those with all of `tags`, and of `namespace`; None for any.
        """
        from llm_sandbox.sandbox.detached.start import attach_all

        return [cls._attached(machine) for machine in attach_all(tags, namespace)]

    @classmethod
    def gc(cls) -> builtins.list[str]:
        """Remove what sandboxes left whose daemon was killed, and return the ids of those.

        Records of ended sandboxes, expired snapshots and incomplete ones are removed as well.
        """
        from llm_sandbox.sandbox.detached.registry import clean

        return clean()

    @classmethod
    def _attached(cls, machine: Any) -> Self:
        request: CreateRequest = machine.info.request
        sandbox = cls(machine, request.env, request.secrets)
        sandbox._ready = read_probe(request.ready)
        sandbox._programs.find_entry()
        return sandbox

    @property
    def id(self) -> str:
        """Unique identifier."""
        return self._machine.id

    @property
    def name(self) -> str | None:
        """Name given at creation; None without one."""
        return self._machine.name

    @property
    def namespace(self) -> str:
        """Namespace of the name; ``default`` unless another was given."""
        return self._machine.namespace

    @property
    def tags(self) -> Mapping[str, str]:
        """Tags, as last reported to this handle."""
        return MappingProxyType(dict(self._machine.tags))

    @property
    def backend(self) -> str:
        """Name of the backend."""
        return self._machine.isolation.backend

    @property
    def isolation(self) -> Isolation:
        """Isolation report, resource by resource."""
        return self._machine.isolation

    @property
    def limits(self) -> Limits:
        """Current resource limits."""
        return self._machine.spec.limits

    @property
    def workdir(self) -> str:
        """Path of the working directory inside."""
        return self._machine.spec.workdir

    @property
    def files(self) -> SandboxFiles:
        """Files of the sandbox."""
        self._check_open()
        return self._files

    @property
    def entry(self) -> Process | None:
        """Entry command's process, with which the sandbox ends; None without one.

        Its output is there from the first byte, in every handle.
        """
        return self._programs.entry

    def __repr__(self) -> str:
        state = self.end_reason or "running"
        named = "" if self.name is None else f" {self.name!r}"
        return f"<Sandbox {self.id}{named}, {self.backend}, {state}>"

    def update_limits(self, **limits: Unpack[LimitOptions]) -> Limits:
        """Change resource limits and return all of them: ``sandbox.update_limits(memory="8g")``.

        Limits on captured output and files can change on every backend. On bubblewrap so can the
        sizes of the working directory, ``/tmp`` and ``/dev/shm``, and, where a control group
        enforces them, memory and the CPUs of a sandbox that was created with `cpus`; in a
        container memory and CPUs.

        Raises:
            UnsupportedError: One cannot change in an open sandbox here; nothing has changed then.
            BackendError: It is less than what is in use.
            ValidationError: A value is invalid.
        """
        self._check_open()
        self._machine.update_limits(self.limits.updated(**limits))
        return self.limits

    def update_env(self, env: Mapping[str, str]) -> None:
        """Add environment variables for programs that this handle starts from now on."""
        self._env |= check_env("env", env)

    def set_tags(self, tags: Mapping[str, str]) -> None:
        """Replace all tags of a detached sandbox (see `create`); an empty mapping removes them."""
        self._check_open()
        self._machine.set_tags(check_tags(tags))

    def exec(
        self,
        *argv: str,
        env: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | Sequence[Secret] | None = None,
        cwd: str | None = None,
        stdin: bytes | str | Pipe | None = None,
        timeout: float | None = None,
        user: str | int | None = None,
        pty: bool | Terminal = False,
        stdout: OutputTarget = "pipe",
        stderr: ErrorTarget = "pipe",
    ) -> Process:
        r"""Start a program; arguments are passed as they are, without a shell.

        Args:
            argv: The program and its arguments.
            env: Variables for this program; they win over the sandbox's, secrets included.
            secrets: Secrets for this program; they win over the sandbox's. Their files stay until
                the sandbox ends; placeholders can be given to the sandbox only.
            cwd: Working directory, relative to the sandbox's; None for that.
            stdin: Standard input: text, bytes, `PIPE` to write to `Process.stdin`, or None for
                nothing.
            timeout: Seconds until the program is killed with its whole process tree, and ends with
                124; None for no limit.
            user: None, ``sandbox`` or 65532: the only user there is.
            pty: Whether the program has a terminal, True for one of the usual size. `stdin` is
                typed there, so that ``\x03`` interrupts, and its end is the terminal's end of
                input; what the terminal shows is `Process.stdout`.
            stdout: Where standard output goes besides `Process.stdout`. ``pipe``: nowhere.
                ``null``: discarded at the source, absent from `Process.stdout` too. ``inherit``:
                this process's own standard output, raw: a terminal obeys its control sequences.
                Or a file of this computer, a path with a ``/`` or a binary file object, which gets
                as much as `Process.stdout` has.
            stderr: The same for standard error; or ``stdout`` to merge it into standard output.

        Raises:
            OSError: A file for the output could not be opened.
            LaunchError: There is no such program or directory, or it cannot be executed.
            CommandEmptyError: `argv` is empty.
            ValidationError: An argument is invalid.
            UnsupportedError: `user` is another user.
        """
        self._check_open()
        return self._programs.start(
            argv,
            {**self._secrets.env, **self._env},
            env=env,
            secrets=secrets,
            cwd=cwd,
            stdin=stdin,
            timeout=timeout,
            user=user,
            pty=pty,
            stdout=stdout,
            stderr=stderr,
        )

    def sh(self, text: str, **options: Any) -> Process:
        """Start a shell with a command line; options as in `exec`."""
        return self.exec("sh", "-c", text, **options)

    def check(self, *argv: str, **options: Any) -> ProcessResult:
        """Run a program to its end and return its `ProcessResult`; options as in `exec`.

        Raises:
            CommandFailedError: The exit status was not 0; values of secrets are redacted.
        """
        own = plan_secrets(options.get("secrets"))
        return check_result(self.exec(*argv, **options), (*own.hidden, *self._secrets.hidden))

    def processes(self) -> builtins.list[Process]:
        """Return the running programs, oldest first.

        For a detached sandbox those of all handles, without `entry`; else those of this handle.
        """
        self._check_open()
        return self._programs.running()

    def process(self, process_id: str) -> Process:
        """Return a program by its id, with its output from the first byte.

        A detached sandbox knows all running programs and the last 128 that have ended; any other
        knows those that run and those whose `Process` is still referenced. A program of another
        handle has no `Process.stdin`. Raises `ProcessNotFoundError` for any other id.
        """
        self._check_open()
        return self._programs.get(process_id)

    @property
    def network(self) -> Network:
        """Current network setting."""
        return self._network.setting

    def set_network(self, network: Network) -> int:
        """Change the network of all programs at once.

        Args:
            network: ``blocked``, ``internet``, or `NetworkRules`. Whether it is ``open`` is fixed
                at creation.

        Returns:
            The number of connections that were cut because they are no longer allowed.

        Raises:
            ValidationError: `network` is invalid.
            UnsupportedError: The backend cannot change it, or it is or would be ``open``.
            BackendUnavailableError: No gate could be put into the sandbox's network.
            ContainerGoneError: The gate has ended, and everything is blocked.
        """
        self._check_open()
        return self._network.set(network)

    def network_events(self, after: int = 0) -> tuple[NetworkEvent, ...]:
        """Return blocked connection attempts, oldest first; the last 1000 kinds of attempts.

        Only those with a greater `NetworkEvent.number` than `after`. Without rules there are none:
        attempts then fail inside and are not observed.
        """
        return self._network.events(after)

    def tunnels(self) -> Mapping[int, Tunnel]:
        """Return the tunnels to the ``ports`` of the sandbox, by port inside.

        They work with every network setting. Any program of this computer can connect; a
        connection is closed if no program listens inside.
        """
        self._check_open()
        return self._network.tunnels

    def wait_until_ready(self, timeout: float | None = 60.0) -> None:
        """Wait until the readiness probe ``ready=`` of `create` has succeeded.

        Args:
            timeout: Seconds to wait at most; None for no limit. The sandbox lives on.

        Raises:
            SandboxTimeoutError: It is not ready; the message has the probe, its last failure, and
                the state of the entry command.
            ContainerGoneError: The sandbox ended before it was ready; the message has the cause.
            ValidationError: It was created without ``ready=``.
        """
        wait_until(self, self._ready, timeout, lambda: None)

    def poll(self) -> int | None:
        """Return None while the sandbox lives, else its exit code.

        That is the entry command's if the sandbox ended with it, 124 after its timeout or idle
        timeout, 137 after any other end.
        """
        reason = self.end_reason
        if reason is None:
            return None
        code = self._machine.exit_code
        return _EXIT_CODES.get(reason, _TERMINATED) if code is None else code

    @property
    def returncode(self) -> int | None:
        """Exit code as `poll` returns it."""
        return self.poll()

    @property
    def end_reason(self) -> str | None:
        """Reason why the sandbox has ended; None while it lives.

        ``closed``, ``terminated``, ``exited`` with its entry command, ``deadline``, ``idle``,
        ``oom`` if too much memory ended all of it, or ``gone``.
        """
        return self._machine.end_reason

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the sandbox has ended, and return its exit code; see `poll`.

        Raises:
            SandboxTimeoutError: It still lives after `timeout` seconds; None waits for ever.
        """
        return wait_for_end(self, validate_timeout(timeout))

    def set_timeout(self, seconds: float | None) -> None:
        """Have the sandbox end `seconds` from now, replacing its timeout; None for never."""
        self._check_open()
        self._machine.set_deadline(validate_timeout(seconds, "seconds"))

    def snapshot(
        self,
        name: str | None = None,
        *,
        kind: SnapshotKind = "filesystem",
        path: str | None = None,
        ttl: float | None = None,
    ) -> Snapshot:
        """Save the files of the sandbox, to create others from: ``Sandbox.create(image=...)``.

        The sandbox goes on. Processes, variables, secrets, mounts, ``/tmp`` and ``/dev/shm`` are
        not included. Files that change meanwhile may be saved in either state.

        Args:
            name: Name of the image in an engine, else a label for people; None for a generated one.
            kind: ``filesystem`` for everything that can change, which the same backend can restore;
                ``directory`` for one directory, which every backend can restore for this user.
            path: That directory, relative to the working directory; None for the working directory.
            ttl: Seconds until the snapshot expires and is removed by `gc`; None for never.

        Raises:
            UnsupportedError: The backend cannot save a file system.
            OutputLimitError: The directory holds more than 256 MiB.
            ValidationError: An argument is invalid, or there is no such directory.
            ContainerGoneError: The sandbox has ended.
        """
        self._check_open()
        return save(
            self._machine, self._service, self._files, name=name, kind=kind, path=path, ttl=ttl
        )

    def terminate(self) -> None:
        """End the sandbox with all its processes and wait for that; no effect after its end.

        Unlike `destroy` this leaves the handle open: `poll` returns 137, and the output of `entry`
        can be read.
        """
        self._machine.terminate()
        self._service.close()

    def detach(self) -> None:
        """Release the sandbox, which lives on; this handle is closed. May be called twice.

        It then lives until its timeout, its idle timeout, the end of its entry command, or until
        another handle destroys it.

        Raises:
            UnsupportedError: The sandbox is not detached: it lives in this process only.
        """
        if self._closed is not None:
            return
        self._machine.detach()
        self._close("this handle is detached from the sandbox", f"Sandbox.attach({self.id!r})")

    def destroy(self) -> None:
        """End the sandbox with all its processes. May be called twice.

        Raises:
            BackendError: It could not be ended; the handle stays open, to try again.
        """
        self._machine.destroy()
        self._close("the sandbox was destroyed", "create a new one")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._machine.lets_go:
            self.detach()
        else:
            self.destroy()

    def _close(self, because: str, hint: str) -> None:
        self._closed = self._closed or (because, hint)
        self._service.close()

    def _check_open(self) -> None:
        if self._closed is not None:
            because, hint = self._closed
            raise SessionClosedError(because, hint=hint, backend=self.backend)
