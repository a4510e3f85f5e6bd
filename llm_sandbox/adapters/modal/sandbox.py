"""Sandboxes with the API of Modal."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from llm_sandbox.adapters.modal.app import ANY_APP, App, namespace_of, refuse_environment
from llm_sandbox.adapters.modal.calls import (
    Function,
    Listing,
    function_undone_by,
)
from llm_sandbox.adapters.modal.checks import (
    check_args,
    check_env,
    check_name,
    check_tags,
    check_timeout,
    check_workdir,
)
from llm_sandbox.adapters.modal.creation import (
    check_can_block,
    copies_of,
    gpu_of,
    limits_of,
    mounts_of,
    network_of,
    placement_of,
    ports_of,
    terminal_of,
)
from llm_sandbox.adapters.modal.exception import InvalidError
from llm_sandbox.adapters.modal.image import Image
from llm_sandbox.adapters.modal.image_build import prepare
from llm_sandbox.adapters.modal.mount import Mount, SchedulerPlacement
from llm_sandbox.adapters.modal.probe import Probe
from llm_sandbox.adapters.modal.sandbox_calls import SandboxCalls
from llm_sandbox.adapters.modal.secret import Secret, merge_secrets
from llm_sandbox.adapters.modal.translation import translated
from llm_sandbox.adapters.modal.volume import Volume
from llm_sandbox.exceptions import SandboxNotFoundError
from llm_sandbox.sandbox import Sandbox as Machine

__all__ = ["Sandbox"]

_TIMEOUT_S = 300

_Path = str | os.PathLike[str]


class Sandbox(SandboxCalls):
    """Sandbox that outlives this process, until its timeout, the end of its program or `terminate`.

    Created by `create`. Each call blocks; its ``.aio`` is awaitable, as in ``await
    Sandbox.create.aio(...)``.
    """

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
        check_args(entrypoint_args)
        workdir = check_workdir(workdir)
        check_timeout(timeout, "timeout")
        check_timeout(idle_timeout, "idle_timeout")
        namespace = namespace_of(app)
        ports, ignored = ports_of(encrypted_ports, unencrypted_ports, h2_ports)
        network = network_of(
            block=block_network,
            cidrs=cidr_allowlist,
            outbound_cidrs=outbound_cidr_allowlist,
            domains=outbound_domain_allowlist,
            has_ports=bool(ports),
        )
        limits = limits_of(cpu, memory)
        variables = check_env(env, "env")
        hidden = merge_secrets(secrets)
        terminal = terminal_of(pty=pty, pty_info=pty_info)
        gpus, more = gpu_of(gpu)
        ignored += more
        ignored += refuse_environment(client, environment_name)
        ignored += placement_of(
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
        mounts_of(volumes, (), network_file_systems)
        prepared = prepare(source, workdir, copies_of(mounts))
        if block_network:
            check_can_block(prepared.backend)
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
                mounts=mounts_of(volumes, prepared.files, network_file_systems),
                gpu=gpus,
                ready=None if readiness_probe is None else readiness_probe._readiness,
                pty=terminal if terminal and command else False,
                timeout=_TIMEOUT_S if timeout is None else timeout,
                idle_timeout=idle_timeout,
                name=None if name is None else check_name(name),
                namespace=namespace,
                tags=check_tags(tags or {}),
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
            return Sandbox(Machine.from_name(check_name(name), ANY_APP + app_name))

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
            found = Machine.list(check_tags(tags or {}), namespace)
        ours = []
        for machine in found:
            if f"{machine.namespace}.".startswith(ANY_APP):
                ours.append(Sandbox(machine))
            else:
                machine.detach()
        return iter(ours)
