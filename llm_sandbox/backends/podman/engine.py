"""Podman engine behind Docker's API, with corrections of its answers."""

import os
from collections.abc import Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.podman.compatibility import to_podman_arguments
from llm_sandbox.backends.podman.probe_cache import load_result, store_result
from llm_sandbox.backends.podman.seccomp_profiles import SeccompProfiles
from llm_sandbox.exceptions import BackendError, ValidationError

if TYPE_CHECKING:
    from docker import DockerClient

    from llm_sandbox.backends.podman.background_process import BackgroundProcess

__all__ = ["START_HINT", "PodmanEngine", "ping"]

START_HINT = (
    "install it (apt-get install podman), or start its service "
    "(systemctl --user start podman.socket), or name one by CONTAINER_HOST"
)

_LIMITS = ("MemoryLimit", "SwapLimit", "PidsLimit", "CpuCfsPeriod", "CpuCfsQuota", "CPUSet")
_FACTS = (
    *_LIMITS,
    "CgroupVersion",
    "DefaultRuntime",
    "DockerRootDir",
    "Name",
    "Rootless",
    "SecurityOptions",
    "ServerVersion",
)
_PING_S = 20
_PODMAN_HEADER = "Libpod-Api-Version"


class PodmanEngine(Engine):
    """See `Engine`.

    Args:
        client: A `docker.DockerClient` that is connected to a Podman service.
        local: Whether the engine's files are this machine's.
        file_identity: Identity of a local engine's socket or service, which changes with it.
        process: Service or tunnel that has to run as long as the engine is used; None for none.
        owned: Whether `process` is this engine's alone, and ends with it.
    """

    def __init__(
        self,
        client: "DockerClient",
        *,
        local: bool = False,
        file_identity: object = None,
        process: "BackgroundProcess | None" = None,
        owned: bool = False,
    ) -> None:
        super().__init__(client, "podman", START_HINT)
        self._local = local
        self._file_identity = file_identity
        self._process = process
        self._owned = owned
        self._profiles = SeccompProfiles(self, local=local)

    @property
    def is_over(self) -> bool:
        """True once its service or tunnel, started by this process, has ended."""
        return self._process is not None and not self._process.is_running

    def close(self) -> None:
        """Close the connections, and the tunnel if there is one.

        A service that this process started goes on, for its other engines.
        """
        self.client.close()
        if self._process is not None and self._owned:
            self._process.close()

    def check(self) -> None:
        """See `Engine.check`.

        Raises:
            BackendUnavailableError: It does not answer, or runs no Linux containers.
            ValidationError: Another engine answers.
        """
        with self.errors("ping"):
            headers = ping(self.client)
        if headers.get(_PODMAN_HEADER) is None:
            raise ValidationError(
                f"the engine that answers is not Podman, but {headers.get('Server', 'unknown')}",
                parameter="client",
                backend="podman",
                hint="for Docker: backend='docker'",
            )
        system = headers.get("Server", "").rpartition("(")[2].rstrip(")")
        if system != "linux":
            raise self.unavailable(f"it runs {system or 'unknown'} containers, not Linux ones")

    @property
    def identity(self) -> str:
        """See `Engine.identity`; Podman's own id changes with each request."""
        return f"{self.facts['Name']}:{self.facts['DockerRootDir']}"

    @property
    def is_local(self) -> bool:
        """See `Engine.is_local`."""
        return self._local

    @property
    def architecture(self) -> str:
        """See `Engine.architecture`."""
        # Podman runs the package manager to answer, which takes longer than a container.
        return os.uname().machine if self._local else super().architecture

    @cached_property
    def facts(self) -> dict[str, Any]:
        """See `Engine.facts`: a part, without the limits that a rootless engine wrongly claims."""
        known = load_result(self._file_identity) if self._local else None
        # Another version of this library may have stored others.
        if known is None or known.keys() != set(_FACTS):
            with self.errors("info"):
                found = self.client.info()
            known = {name: found.get(name) for name in _FACTS}
            if self._local:
                store_result(self._file_identity, known)
        if known["Rootless"] and str(known["CgroupVersion"]) == "1":
            # Ignored with a line in the service's log.
            known |= dict.fromkeys(_LIMITS, False)
        return known

    def create_container(self, image: str, command: list[str], arguments: Mapping[str, Any]) -> str:
        """See `Engine.create_container`.

        Raises:
            UnsupportedError: Podman would ignore one of the arguments.
        """
        try:
            return super().create_container(image, command, self._translate(image, arguments))
        except BackendError as error:
            if "seccomp profile" not in error.message:
                raise
        # The volume with the profile was removed.
        self._profiles.forget()
        return super().create_container(image, command, self._translate(image, arguments))

    def _translate(self, image: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return to_podman_arguments(
            arguments,
            profile_path=partial(self._profiles.path_of, image=image),
            runtime=self.facts.get("DefaultRuntime"),
        )


def ping(client: "DockerClient") -> Mapping[str, str]:
    """Return the headers of the engine's quickest answer.

    Raises:
        requests.RequestException: It does not answer.
    """
    api = client.api
    with api.get(f"{api.base_url}/_ping", timeout=_PING_S) as answer:
        answer.raise_for_status()
        headers: Mapping[str, str] = answer.headers
        return headers
