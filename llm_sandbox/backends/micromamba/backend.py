"""Micromamba backend: Docker containers whose programs run inside an environment."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from llm_sandbox.backends.base import Machine, MachineSpec
from llm_sandbox.backends.containers.machine import ContainerMachine
from llm_sandbox.backends.docker.backend import DockerBackend
from llm_sandbox.backends.layers import LayerLocation
from llm_sandbox.backends.micromamba.activation import target_option
from llm_sandbox.backends.micromamba.machine import MicromambaMachine
from llm_sandbox.backends.micromamba.packages import CondaImages, validate_specs
from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.exceptions import UnsupportedError
from llm_sandbox.host.terminal import announce

__all__ = ["DEFAULT_IMAGE", "MicromambaBackend"]

DEFAULT_IMAGE = "mambaorg/micromamba:latest"

_OF_MICROMAMBA = ("CONDA_", "MAMBA_")
_INSTALL_S = 600.0


class MicromambaBackend(DockerBackend):
    """See `Backend`. Safe to use from several threads.

    Args:
        options: What is asked of its containers; ``environment`` is ``base`` by default, and the
            image `DEFAULT_IMAGE`.
        client: A `docker.DockerClient`; None finds the engine as Docker's own tools do.

    Raises:
        ValidationError: The environment is neither a name nor an absolute path.
    """

    name = "micromamba"
    machine_type: ClassVar[type[ContainerMachine]] = MicromambaMachine

    def __init__(self, options: ContainerOptions | None = None, client: object = None) -> None:
        options = options or ContainerOptions()
        if not (options.image or options.dockerfile or options.container_id):
            options = replace(options, image=DEFAULT_IMAGE)
        self.environment = options.environment or "base"
        target_option(self.environment)
        self._with: dict[tuple[str, ...], _WithLibraries] = {}
        super().__init__(options, client)

    def create(self, spec: MachineSpec) -> Machine:
        # The zygote can start only when its Python is known.
        machine = super().create(replace(spec, for_kernel=False))
        assert isinstance(machine, MicromambaMachine)  # noqa: S101 - by `machine_type`
        try:
            machine.activate(self.environment, self._variables())
            if spec.for_kernel:
                machine.start_zygote()
        except BaseException:
            machine.destroy()
            raise
        return machine

    def _variables(self) -> dict[str, str]:
        given = self.options.env
        return {name: value for name, value in given.items() if name.startswith(_OF_MICROMAMBA)}

    def layers(self, machine: Machine) -> LayerLocation:
        raise UnsupportedError(
            "installing libraries as layers",
            self.name,
            "libraries of this backend are conda packages",
            hint="pass libraries=[...] when the session is made, or install them in the image",
        )

    def with_libraries(self, specs: Sequence[str]) -> "MicromambaBackend":
        """Return a backend like this one whose environment has more packages.

        They are installed when its first machine is created, in a separate container with a
        network, and kept as an image that later backends reuse.

        Args:
            specs: Conda packages such as ``numpy`` or ``conda-forge::numpy>=2,<3``.

        Returns:
            The same backend for the same packages.

        Raises:
            ValidationError: One is not a package specification.
            UnsupportedError: The container exists already.
        """
        wanted = tuple(validate_specs(specs))
        if not wanted:
            return self
        if self.options.container_id:
            raise UnsupportedError(
                "libraries with container_id", self.name, "that container exists already"
            )
        with self._lock:
            if wanted not in self._with:
                self._with[wanted] = _WithLibraries(self.options, self._client, wanted)
            return self._with[wanted]


class _WithLibraries(MicromambaBackend):
    """Backend whose image, with further packages, is built when it is first needed."""

    def __init__(self, options: ContainerOptions, client: object, specs: tuple[str, ...]) -> None:
        super().__init__(options, client)
        self._specs = specs
        self._made: MicromambaBackend | None = None

    def with_libraries(self, specs: Sequence[str]) -> MicromambaBackend:
        whole = MicromambaBackend(self.options, self._client)
        return whole.with_libraries([*self._specs, *specs])

    def create(self, spec: MachineSpec) -> Machine:
        """See `Backend.create`.

        Raises:
            LibraryInstallationError: They could not be installed; the error has the output.
            SandboxTimeoutError: The installation took longer than ten minutes.
        """
        with self._lock:
            if self._made is None:
                made = replace(self.options, image=self.image(), dockerfile=None)
                self._made = MicromambaBackend(made, self._client)
        machine = self._made.create(spec)
        assert isinstance(machine, MicromambaMachine)  # noqa: S101 - by `machine_type`
        machine.provided = frozenset(self._specs)
        return machine

    def image(self, timeout_s: float | None = _INSTALL_S) -> str:
        """Return the name of the image, which is built if it is missing.

        Args:
            timeout_s: Seconds that the installation may take; 600.
        """
        options = self.options
        found = self.images.resolve(options, announce)
        given = options.runtime_configs
        network = given.get("network_mode") or given.get("network")
        images = CondaImages(self.engine, self._variables(), network)
        return images.ensure(found.id, self.environment, self._specs, timeout_s)
