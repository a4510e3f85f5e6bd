"""Sandboxes with the API of Modal."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, Self

from llm_sandbox.adapters.modal import checks, creation
from llm_sandbox.adapters.modal.app import ANY_APP, App, namespace_of, refuse_environment
from llm_sandbox.adapters.modal.calls import (
    Function,
    Listing,
    Method,
    function_undone_by,
    method_undone_by,
)
from llm_sandbox.adapters.modal.container_process import ContainerProcess
from llm_sandbox.adapters.modal.exception import ClientClosed, ConflictError, InvalidError
from llm_sandbox.adapters.modal.filesystem import SandboxFilesystem
from llm_sandbox.adapters.modal.image import Image
from llm_sandbox.adapters.modal.image_build import prepare
from llm_sandbox.adapters.modal.image_snapshot import save_image
from llm_sandbox.adapters.modal.io_streams import StreamReader, StreamWriter
from llm_sandbox.adapters.modal.main_program import MainProgram
from llm_sandbox.adapters.modal.mount import Mount, SchedulerPlacement
from llm_sandbox.adapters.modal.probe import Probe
from llm_sandbox.adapters.modal.secret import Secret, merge_secrets
from llm_sandbox.adapters.modal.stream_type import StreamType
from llm_sandbox.adapters.modal.translation import translated
from llm_sandbox.adapters.modal.tunnel import Tunnel, tunnel_of
from llm_sandbox.adapters.modal.volume import Volume
from llm_sandbox.exceptions import SandboxNotFoundError
from llm_sandbox.sandbox import PIPE
from llm_sandbox.sandbox import Sandbox as Machine

__all__ = ["Sandbox"]

_TIMEOUT_S, _SNAPSHOT_S = 300, 55

_Path = str | os.PathLike[str]


class Sandbox:
    """Sandbox that outlives this process, until its timeout, the end of its program or `terminate`.

    Created by `create`. Each call blocks; its ``.aio`` is awaitable, as in ``await
    Sandbox.create.aio(...)``.

    Args:
        machine: Sandbox of the library; None for one that has ended.
        ended: Id and end of a sandbox that has ended.
        ignored: Parameters that were recorded and not honoured.
    """

    def __init__(
        self,
        machine: Machine | None,
        *,
        ended: tuple[str, SandboxNotFoundError] | None = None,
        ignored: tuple[str, ...] = (),
    ) -> None:
        self._machine = machine
        self._ignored = ignored
        self._is_detached = False
        self._object_id = ended[0] if ended is not None else "" if machine is None else machine.id
        self._program = MainProgram(self._object_id, self._open)
        if ended is not None:
            self._program.record_missing(ended[1])

    @function_undone_by(lambda made: made.terminate())
    @staticmethod
    def create(
        *entrypoint_args: str,
        app: App | None = None,
        environment_name: str | None = None,
        image: Image | None = None,
        mounts: Sequence[Mount] = (),
        secrets: Collection[Secret] | None = (),
        network_file_systems: Mapping[_Path, Any] = {},
        timeout: int | None = None,
        workdir: str | None = None,
        gpu: str | None = None,
        cloud: str | None = None,
        region: str | Sequence[str] | None = None,
        cpu: float | tuple[float, float] | None = None,
        memory: int | tuple[int, int] | None = None,
        block_network: bool = False,
        cidr_allowlist: Sequence[str] | None = None,
        volumes: Mapping[_Path, Volume] = {},
        pty_info: object = None,
        encrypted_ports: Sequence[int] = (),
        unencrypted_ports: Sequence[int] = (),
        proxy: object = None,
        _experimental_scheduler_placement: SchedulerPlacement | None = None,
        client: object = None,
        name: str | None = None,
        tags: Mapping[str, str] | None = None,
        env: Mapping[str, str | None] | None = None,
        idle_timeout: int | None = None,
        runtime: str | None = None,
        outbound_cidr_allowlist: Sequence[str] | None = None,
        outbound_domain_allowlist: Sequence[str] | None = None,
        inbound_cidr_allowlist: Sequence[str] | None = None,
        pty: bool = False,
        h2_ports: Sequence[int] = (),
        custom_domain: str | None = None,
        include_oidc_identity_token: bool = False,
        readiness_probe: Probe | None = None,
        verbose: bool = False,
        experimental_options: Mapping[str, Any] | None = None,
    ) -> "Sandbox":
        """Create a sandbox, and return when its program has started.

        Args:
            entrypoint_args: Main program, with which the sandbox ends; none for a sandbox that runs
                until its timeout. 65,536 characters in total at most.
            app: App of the sandbox; None for none.
            environment_name: None; there are no environments.
            image: Image; None for `Image.debian_slim`.
            mounts: Files of this machine to copy into the sandbox.
            secrets: Environment variables of all programs.
            network_file_systems: Empty; they are Modal's servers'.
            timeout: Maximum lifetime in seconds, up to 86,400; None for 300.
            workdir: Absolute working directory; None for that of the image, by default ``/root``.
            gpu: ``any``, or ``any:2`` for two; None for none.
            cloud: None; there is only this machine.
            region: None; there is only this machine.
            cpu: CPU request; or the request and the limit.
            memory: Memory request in MiB; or the request and the limit. The default limit is that
                of `Configuration.limits`, or the request if larger.
            block_network: Whether the sandbox has no network.
            cidr_allowlist: Address ranges that the sandbox may connect to; DNS is then disabled.
                None for `Configuration.network`.
            volumes: Volumes by mount path.
            pty_info: As `pty`, with a size.
            encrypted_ports: Ports exposed over TLS, given ``configure(tls="self-signed")``; refused
                without it, unless ``configure(strict=False)`` treats them as `unencrypted_ports`.
            unencrypted_ports: Ports exposed by `tunnels`.
            proxy: None; connections come from this machine's address.
            _experimental_scheduler_placement: None; there is only this machine.
            client: None; there is nothing to connect to.
            name: Name for `from_name`, unique among the living sandboxes of the app.
            tags: Tags for `list`.
            env: Further variables, which override those of `secrets`; None values are omitted.
            idle_timeout: Seconds without activity after which the sandbox ends.
            runtime: None; the backend decides.
            outbound_cidr_allowlist: As `cidr_allowlist`.
            outbound_domain_allowlist: Domains that the sandbox may connect to on port 443, in
                addition to those addresses; ``*.example.com`` for all subdomains, ``*`` for all.
            inbound_cidr_allowlist: None; tunnels only accept connections from this machine.
            pty: Whether the main program has a terminal, which merges its standard error into its
                output.
            h2_ports: Refused, unless ``configure(strict=False)`` treats them as
                `unencrypted_ports`.
            custom_domain: None; tunnels have this machine's address.
            include_oidc_identity_token: False; there is no identity provider.
            readiness_probe: Condition for `wait_until_ready`.
            verbose: No effect: events are logged by the logger ``llm_sandbox``.
            experimental_options: None; they are those of Modal's servers.

        Raises:
            AlreadyExistsError: Another sandbox of the app has the name.
            ImageBuildError: The image could not be built.
            InvalidError: An argument is invalid, or two contradict each other.
            NotFoundError: The program or the image does not exist.
            UnimplementedError: Only Modal's cloud supports an argument.
            ValueError: The app is neither looked up nor run.
        """
        del verbose
        checks.check_args(entrypoint_args)
        workdir = checks.check_workdir(workdir)
        checks.check_timeout(timeout, "timeout")
        checks.check_timeout(idle_timeout, "idle_timeout")
        namespace = namespace_of(app)
        ports, ignored = creation.ports_of(encrypted_ports, unencrypted_ports, h2_ports)
        network = creation.network_of(
            block=block_network,
            cidrs=cidr_allowlist,
            outbound_cidrs=outbound_cidr_allowlist,
            domains=outbound_domain_allowlist,
            has_ports=bool(ports),
        )
        limits = creation.limits_of(cpu, memory)
        variables = checks.check_env(env, "env")
        hidden = merge_secrets(secrets)
        terminal = creation.terminal_of(pty=pty, pty_info=pty_info)
        gpus, more = creation.gpu_of(gpu)
        ignored += more
        ignored += refuse_environment(client, environment_name)
        ignored += creation.placement_of(
            cloud=cloud,
            region=region,
            scheduler_placement=_experimental_scheduler_placement,
            proxy=proxy,
            custom_domain=custom_domain,
            inbound_cidr_allowlist=inbound_cidr_allowlist,
            oidc=include_oidc_identity_token,
            runtime=runtime,
            experimental=experimental_options,
        )
        if image is not None and not isinstance(image, Image):
            raise InvalidError(f"image is an Image, not {type(image).__name__}", parameter="image")
        source = image or Image.debian_slim()
        creation.mounts_of(volumes, (), network_file_systems)
        prepared = prepare(source, workdir, creation.copies_of(mounts))
        if block_network:
            creation.check_can_block(prepared.backend)
        command = entrypoint_args or source._cmd
        with translated():
            machine = Machine.create(
                *command,
                backend=prepared.backend,
                image=prepared.image,
                workdir=prepared.workdir,
                env=prepared.env | variables,
                secrets={key: value for key, value in hidden.items() if key not in variables},
                limits=limits,
                network=network,
                ports=ports,
                mounts=creation.mounts_of(volumes, prepared.files, network_file_systems),
                gpu=gpus,
                ready=None if readiness_probe is None else readiness_probe._readiness,
                pty=terminal if terminal and command else False,
                timeout=_TIMEOUT_S if timeout is None else timeout,
                idle_timeout=idle_timeout,
                name=None if name is None else checks.check_name(name),
                namespace=namespace,
                tags=checks.check_tags(tags or {}),
                on_exit="keep",
            )
        return Sandbox(machine, ignored=tuple(ignored))

    # --- finding sandboxes

    @Function
    @staticmethod
    def from_id(sandbox_id: str, client: object = None) -> "Sandbox":
        """Return a handle of a sandbox by `object_id`.

        A sandbox that ended within the last day has a handle with its `returncode`, without its
        output.

        Raises:
            NotFoundError: The sandbox does not exist.
        """
        refuse_environment(client, None)
        with translated():
            try:
                return Sandbox(Machine.attach(sandbox_id))
            except SandboxNotFoundError as error:
                if error.end_reason is None:
                    raise
                return Sandbox(None, ended=(sandbox_id, error))

    @Function
    @staticmethod
    def from_name(
        app_name: str, name: str, *, environment_name: str | None = None, client: object = None
    ) -> "Sandbox":
        """Return a handle of a living sandbox by its app and name.

        Raises:
            NotFoundError: The sandbox does not exist.
        """
        refuse_environment(client, environment_name)
        with translated():
            return Sandbox(Machine.from_name(checks.check_name(name), ANY_APP + app_name))

    @Listing
    @staticmethod
    def list(
        *,
        app_id: str | None = None,
        tags: Mapping[str, str] | None = None,
        client: object = None,
    ) -> Iterator["Sandbox"]:
        """Yield handles of the living sandboxes of this adapter, newest first.

        Args:
            app_id: Id of an app to filter by; None for all sandboxes.
            tags: Tags to filter by.
            client: None; there is nothing to connect to.

        Raises:
            InvalidError: An argument is invalid.
        """
        refuse_environment(client, None)
        namespace = None if app_id is None else namespace_of(app_id)
        with translated():
            found = Machine.list(checks.check_tags(tags or {}), namespace)
        ours = []
        for machine in found:
            if f"{machine.namespace}.".startswith(ANY_APP):
                ours.append(Sandbox(machine))
            else:
                machine.detach()
        return iter(ours)

    def __repr__(self) -> str:
        return f"Sandbox({self._object_id!r})"

    @property
    def object_id(self) -> str:
        """Id of the sandbox, for `Sandbox.from_id`."""
        return self._object_id

    @property
    def ignored(self) -> tuple[str, ...]:
        """Parameters at creation that only Modal's cloud honours; see `configure`."""
        return self._ignored

    # --- its program

    @property
    def stdout(self) -> StreamReader[str]:
        """Standard output of the main program, by lines and from the start in every handle; output
        of `exec` is not included.
        """
        return self._program.output("stdout")

    @property
    def stderr(self) -> StreamReader[str]:
        """Standard error of the main program; see `stdout`."""
        return self._program.output("stderr")

    @property
    def stdin(self) -> StreamWriter:
        """Standard input of the main program."""
        return self._program.stdin

    # --- its end

    @property
    def returncode(self) -> int | None:
        """Exit code as last returned by `poll` or `wait`; None before that, or while the sandbox
        lives.
        """
        return self._program.returncode

    @Method
    def poll(self) -> int | None:
        """Return None while the sandbox lives; then the exit code of the main program, 124 after a
        timeout, 137 after any other end.
        """
        if self._program.returncode is None:
            self._program.record(self._open())
        return self._program.returncode

    @Method
    def wait(self, raise_on_termination: bool = True) -> None:
        """Wait for the sandbox to end.

        Args:
            raise_on_termination: Whether `SandboxTerminatedError` is raised.

        Raises:
            SandboxTimeoutError: The sandbox reached its timeout.
            SandboxTerminatedError: The sandbox was terminated.
        """
        self._program.wait(self._again)
        self._program.raise_for_end(raise_on_termination)

    @wait.awaited
    async def _wait_aio(self, raise_on_termination: bool = True) -> None:
        await self._program.wait_aio(self._again)
        self._program.raise_for_end(raise_on_termination)

    def _again(self) -> Machine:
        """Return the sandbox; for a detached handle, a new handle of it."""
        if self._machine is not None and not self._is_detached:
            return self._machine
        return Machine.attach(self._object_id)

    @Method
    def terminate(self, *, wait: bool = False) -> int | None:
        """Terminate the sandbox, and return when it has ended; no effect after its end.

        Args:
            wait: Whether the exit code is returned; the call waits either way.
        """
        if self._program.returncode is None:
            with translated():
                self._open().terminate()
            self.poll()
        return self._program.returncode if wait else None

    @Method
    def detach(self) -> None:
        """Detach the handle; the sandbox lives on. Only `wait` and known facts can be used
        afterwards.
        """
        if self._machine is not None and not self._is_detached:
            with translated():
                self._machine.detach()
        self._is_detached = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        self.detach()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.detach.aio()

    # --- programs, tags, snapshots, tunnels

    @method_undone_by(lambda process: process._process.kill())
    def exec(
        self,
        *cmds: str,
        pty_info: object = None,
        stdout: StreamType = StreamType.PIPE,
        stderr: StreamType = StreamType.PIPE,
        timeout: int | None = None,
        workdir: str | None = None,
        secrets: Collection[Secret] | None = (),
        text: bool = True,
        bufsize: Literal[-1, 1] = -1,
        _pty_info: object = None,
        env: Mapping[str, str | None] | None = None,
        pty: bool = False,
    ) -> ContainerProcess[Any]:
        """Start a program.

        Args:
            cmds: Program and arguments, 65,536 characters in total at most; no shell is involved.
            pty_info: As `pty`, with a size.
            stdout: Destination of standard output.
            stderr: Destination of standard error.
            timeout: Seconds until the program and its children are killed, with exit code -1; None
                for the lifetime of the sandbox.
            workdir: Absolute working directory; None for that of the sandbox.
            secrets: Variables of this program, which override those of the sandbox.
            text: Whether output is text; otherwise bytes.
            bufsize: 1 to iterate over text output by lines; -1 for chunks as they arrive.
            _pty_info: As `pty_info`.
            env: Further variables, which override those of `secrets`; None values are omitted.
            pty: Whether the program has a terminal, which merges standard error into its output.

        Raises:
            ConflictError: The sandbox has ended.
            InvalidError: An argument is invalid.
            NotFoundError: The program or the directory does not exist.
            ValueError: `bufsize` is 1, and `text` False.
        """
        checks.check_args(cmds)
        checks.check_workdir(workdir)
        checks.check_timeout(timeout, "timeout", most=None)
        checks.check_bufsize(bufsize, text=text)
        terminal = creation.terminal_of(pty=pty, pty_info=_pty_info or pty_info)
        machine = self._open()
        if self.poll() is not None:
            raise ConflictError(
                f"the sandbox has ended, with {self.returncode}", hint="create another one"
            )
        variables, hidden = checks.check_env(env, "env"), merge_secrets(secrets)
        with translated():
            process = machine.exec(
                *cmds,
                env=variables,
                secrets={key: hidden[key] for key in hidden.keys() - variables.keys()},
                cwd=workdir,
                stdin=PIPE,
                timeout=timeout,
                pty=terminal or False,
                stdout="null" if stdout is StreamType.DEVNULL else "pipe",
                stderr="null" if stderr is StreamType.DEVNULL and terminal is None else "pipe",
            )
        return ContainerProcess(
            process, stdout=stdout, stderr=stderr, text=text, by_line=bufsize == 1
        )

    @Method
    def set_tags(self, tags: Mapping[str, str], *, client: object = None) -> None:
        """Replace all tags; an empty dict removes them.

        Raises:
            InvalidError: The tags are invalid.
        """
        refuse_environment(client, None)
        checked = checks.check_tags(tags)
        with translated():
            self._open().set_tags(checked)

    @Method
    def get_tags(self) -> dict[str, str]:
        """Return the tags of the sandbox."""
        with translated():
            current = Machine.attach(self._open().id)
            try:
                return dict(current.tags)
            finally:
                current.detach()

    @Method
    def snapshot_filesystem(self, timeout: int = _SNAPSHOT_S, *, ttl: int | None = None) -> Image:
        """Save the file system, and return an image for other sandboxes.

        Volumes, mounted files, ``/tmp`` and running programs are not included.

        Args:
            timeout: Seconds until the operation is abandoned.
            ttl: Seconds until the image expires; None for never.

        Raises:
            ExecutionError: The snapshot failed.
            SandboxTimeoutError: The timeout passed; the unfinished snapshot is deleted.
            UnimplementedError: The backend does not support it; `snapshot_directory` works
                everywhere.
        """
        return save_image(
            self._open(), timeout, lambda machine: machine.snapshot(kind="filesystem", ttl=ttl)
        )

    @Method
    def snapshot_directory(
        self, path: str | os.PathLike[str], *, timeout: int = _SNAPSHOT_S, ttl: int | None = None
    ) -> Image:
        """Save a directory, and return an image that has it at the same path.

        Args:
            path: The directory, absolute.
            timeout: As of `snapshot_filesystem`.
            ttl: The same.

        Raises:
            SandboxTimeoutError: The timeout passed; the unfinished snapshot is deleted.
        """
        folder = checks.check_workdir(os.fspath(path))
        return save_image(
            self._open(),
            timeout,
            lambda machine: machine.snapshot(kind="directory", path=folder, ttl=ttl),
        )

    @Method
    def reload_volumes(self, *, timeout: int = _SNAPSHOT_S) -> None:
        """Return at once: volumes are shared folders and always current."""
        checks.check_timeout(timeout, "timeout")
        self._open()

    @Method
    def tunnels(self, timeout: int = 50) -> dict[int, Tunnel]:
        """Return the tunnels of the exposed ports, by port.

        Args:
            timeout: Accepted for compatibility: tunnels exist from the start.

        Raises:
            ConflictError: The sandbox has ended.
        """
        checks.check_timeout(timeout, "timeout")
        machine = self._open()
        with translated():
            found = machine.tunnels()
        return {port: tunnel_of(tunnel) for port, tunnel in found.items()}

    @Method
    def wait_until_ready(self, *, timeout: int = 300) -> None:
        """Wait until the ``readiness_probe`` succeeds.

        Raises:
            InvalidError: The sandbox has no probe.
            SandboxTimeoutError: The timeout passed.
        """
        checks.check_timeout(timeout, "timeout")
        with translated():
            self._open().wait_until_ready(timeout)

    # --- its files

    @property
    def filesystem(self) -> SandboxFilesystem:
        """Files of the sandbox."""
        return SandboxFilesystem(self._open())

    def _open(self) -> Machine:
        if self._is_detached:
            raise ClientClosed
        if self._machine is None:
            raise ConflictError(
                f"the sandbox {self._object_id} has ended, with {self._program.returncode}, and "
                "its output went with it",
                hint="a handle from before its end still has it",
            )
        return self._machine
