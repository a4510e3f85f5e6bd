"""What a sandbox says of itself."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Unpack

from llm_sandbox.backends.base import Isolation, Machine
from llm_sandbox.exceptions import SessionClosedError
from llm_sandbox.limits import LimitOptions, Limits
from llm_sandbox.sandbox.checks import check_env
from llm_sandbox.sandbox.file_service import FileService
from llm_sandbox.sandbox.files import ModifiedFlag, SandboxFiles
from llm_sandbox.secrets.plan import SecretPlan, plan_secrets
from llm_sandbox.secrets.secret import Secret

__all__ = ["SandboxFacts"]

_LET_GO = "this handle has let go of the sandbox"
_DESTROYED = "the sandbox was destroyed"


class SandboxFacts:
    """The part of `Sandbox` that holds its machine and says what that is."""

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
        self._touches = ModifiedFlag()
        mounts = machine.spec.mounts.items()
        mounted = [place for place, one in mounts if not getattr(one, "read_only", False)]
        self._files = SandboxFiles(self._service, machine.spec.workdir, self._touches, mounted)
        self._closed_because: str | None = None

    def _check_open(self) -> None:
        if self._closed_because is not None:
            let_go = self._closed_because == _LET_GO
            raise SessionClosedError(
                self._closed_because,
                hint=f"Sandbox.attach({self.id!r})" if let_go else "create a new one",
                backend=self.backend,
            )

    @property
    def id(self) -> str:
        """Its name, one of its kind."""
        return self._machine.id

    @property
    def name(self) -> str | None:
        """The name that it was given; None without one."""
        return self._machine.name

    @property
    def namespace(self) -> str:
        """Where its name is the only one of its kind; ``default`` unless another was given."""
        return self._machine.namespace

    @property
    def tags(self) -> Mapping[str, str]:
        """Its tags, as this handle last heard of them."""
        return MappingProxyType(dict(self._machine.tags))

    @property
    def backend(self) -> str:
        """Name of the backend it lives in."""
        return self._machine.isolation.backend

    @property
    def isolation(self) -> Isolation:
        """What holds it, resource by resource."""
        return self._machine.isolation

    @property
    def limits(self) -> Limits:
        """What it may use."""
        return self._machine.spec.limits

    @property
    def workdir(self) -> str:
        """Its working directory, as its programs see it."""
        return self._machine.spec.workdir

    @property
    def files(self) -> SandboxFiles:
        """Its files."""
        self._check_open()
        return self._files

    def update_limits(self, **limits: Unpack[LimitOptions]) -> Limits:
        """Hold it to other limits from now on: ``sandbox.update_limits(memory="8g")``.

        What the host keeps of output and files can change anywhere. On bubblewrap so can the sizes
        of the working directory, ``/tmp`` and ``/dev/shm``, and, where a control group holds them,
        memory and the CPUs of a sandbox that was made with `cpus`; in a container memory and CPUs.

        Args:
            limits: The ones that change, by the names that `Limits` takes; the others stay.

        Returns:
            All limits, as they are now.

        Raises:
            UnsupportedError: One cannot change in an open sandbox here; nothing has changed then.
            BackendError: It is less than what is used already.
            ValidationError: A value is not acceptable.
        """
        self._check_open()
        self._machine.update_limits(self.limits.updated(**limits))
        return self.limits

    def update_env(self, env: Mapping[str, str]) -> None:
        """Add environment variables for programs that this handle starts from now on."""
        self._env |= check_env("env", env)
