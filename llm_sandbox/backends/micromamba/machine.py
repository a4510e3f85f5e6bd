"""Container whose programs run inside a micromamba environment."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from llm_sandbox.backends.base import KernelSpec, RawKernel
from llm_sandbox.backends.containers.machine import ContainerMachine
from llm_sandbox.backends.micromamba.activation import Activation, activate, ask
from llm_sandbox.backends.micromamba.packages import (
    install_command,
    installation_failure,
    validate_specs,
)
from llm_sandbox.exceptions import (
    KernelNotReadyError,
    LibraryInstallationError,
    SandboxTimeoutError,
)

__all__ = ["MicromambaMachine"]


class MicromambaMachine(ContainerMachine):
    """See `Machine`. Before `activate` its programs have the variables of the image."""

    provided: frozenset[str] = frozenset()
    """Requested packages that are installed."""
    _environment_name = "base"

    def activate(self, environment: str, variables: Mapping[str, str] | None = None) -> Activation:
        """Activate an environment for all later programs, and for the kernel.

        Args:
            environment: Its name, or its absolute path.
            variables: Further variables for micromamba, such as ``CONDA_CHANNELS``.

        Raises:
            ValidationError: There is no such environment; the message lists the existing ones.
            BackendError: The image has no micromamba, or it does not work.
        """
        self._environment |= variables or {}
        found = activate(self, environment)
        self._environment_name = environment
        self._environment = dict(found.variables)
        self._paths = replace(self._paths, python=found.python or "")
        return found

    def start_kernel(self, spec: KernelSpec) -> RawKernel:
        name = self._environment_name
        if spec.command:
            return super().start_kernel(spec)
        if not self._paths.python:
            raise self._not_ready(f"the environment {name!r} has no Python")
        try:
            return super().start_kernel(spec)
        except KernelNotReadyError as error:
            reason = error.message.strip().splitlines()[-1]
            raise self._not_ready(
                f"the environment {name!r} cannot run a kernel: {reason}"
            ) from None

    def start_zygote(self, packages: str | None = None) -> None:
        """Start the zygote, if the environment has a Python."""
        if self._paths.python:
            super().start_zygote(packages)

    def _not_ready(self, words: str) -> KernelNotReadyError:
        return KernelNotReadyError(
            f"{words} (image {self.image})",
            hint=f"in the image: micromamba install -n {self._environment_name} python ipykernel",
            retryable=False,
        )

    @property
    def has_packages(self) -> bool:
        return True

    def install_packages(self, specs: Sequence[str], timeout_s: float = 600.0) -> None:
        """Add conda packages to the environment in place, with the rights of the sandbox's user.

        Args:
            specs: Such as ``numpy`` or ``conda-forge::numpy>=2,<3``.
            timeout_s: Seconds that it may take; 600.

        Raises:
            ValidationError: One is not a package specification.
            LibraryInstallationError: The network is blocked, or they could not be installed; the
                error has micromamba's output.
            SandboxTimeoutError: It took longer.
        """
        wanted = [spec for spec in validate_specs(specs) if spec not in self.provided]
        if not wanted:
            return
        if self.spec.network == "blocked":
            raise LibraryInstallationError(
                f"{', '.join(wanted)} could not be installed: the sandbox has no network",
                packages=wanted,
                op="install",
                hint="pass libraries=[...] when the session is made",
            )
        variables = self.base_env()
        command = install_command(self._environment_name, wanted, variables)
        ended, output, errors = ask(self, command, variables, timeout_s)
        if ended.timed_out:
            raise SandboxTimeoutError(
                f"installing {', '.join(wanted)} took longer than {timeout_s:g} s",
                timeout_s,
                op="install",
            )
        if ended.exit_code:
            text = (output + b"\n" + errors).decode("utf-8", "replace")
            raise installation_failure(wanted, text, ended.exit_code)
        self.provided |= {*wanted}
