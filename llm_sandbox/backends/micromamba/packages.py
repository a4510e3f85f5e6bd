"""Installation of conda packages in a micromamba environment.

An environment cannot be layered like a folder of wheels: its files contain its path, and it is
solved as a whole. Libraries that are known when a session is created are therefore installed once,
by a container with a network that runs only micromamba, and committed to an image that later
sessions reuse. In an open session they can only be installed in place, which takes an open network
and an environment that its user may write.
"""

import hashlib
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.containers.gc.labels import MARK, OWNER, STARTED, new_labels
from llm_sandbox.backends.containers.gc.removal import remove_soon
from llm_sandbox.backends.micromamba.activation import micromamba_program, target_option
from llm_sandbox.const import VERSION
from llm_sandbox.exceptions import (
    ImageNotFoundError,
    LibraryInstallationError,
    SandboxTimeoutError,
    ValidationError,
)
from llm_sandbox.host.terminal import announce, strip_controls
from llm_sandbox.limits import Deadline

__all__ = ["CondaImages", "install_command", "installation_failure", "validate_specs"]

_REPOSITORY = "llm-sandbox/micromamba"
_FORMAT = "llm-sandbox conda image 1"
_CHANNEL = "conda-forge"
_POLL_S = 0.2
_KEPT_LINES = 200
_KEPT_OUTPUT = 64 << 10
_MEMORY_BYTES = 4 << 30
_PROCESSES = 512
_SPEC = re.compile(
    r"(?:[A-Za-z0-9_.-]{1,64}::)?"
    r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"
    r"(?:(?:==?|!=|<=?|>=?|~=)[A-Za-z0-9_.*+!]{1,64}(?:,(?:==?|!=|<=?|>=?|~=)[A-Za-z0-9_.*+!]{1,64})*"
    r"(?:=[A-Za-z0-9_.*]{1,64})?)?",
    re.ASCII,
)
_UNREACHABLE = re.compile(
    r"resolv|name or service|could ?n.t connect|failed to connect|connection (?:refused|timed)"
    r"|download error|error sending request|network is unreachable",
    re.IGNORECASE,
)
# Downloads are removed, as they would be in the image twice.
_INSTALL = '"$0" install --yes "$@" && exec "$0" clean --all --yes >/dev/null'


def validate_specs(specs: Sequence[str]) -> list[str]:
    """Return conda package specifications, sorted and each once.

    Raises:
        ValidationError: One is not of the form ``name``, ``name>=1.2,<2``, ``name=1.2`` or
            ``channel::name``.
    """
    if isinstance(specs, str):
        # Its letters would be taken as names.
        raise ValidationError("libraries must be a list of names", parameter="libraries")
    for spec in specs:
        if not _SPEC.fullmatch(str(spec)):
            raise ValidationError(
                f"invalid package: expected one such as 'conda-forge::numpy>=2', got {spec!r}",
                parameter="libraries",
            )
    return sorted(set(specs))


def install_command(
    environment: str, specs: Sequence[str], variables: Mapping[str, str]
) -> list[str]:
    """Return the command line that adds packages to an environment.

    Args:
        environment: Its name or path.
        specs: The packages.
        variables: Variables of the command; ``CONDA_CHANNELS`` names other channels than
            conda-forge.
    """
    channels = [] if variables.get("CONDA_CHANNELS") else ["--channel", _CHANNEL]
    program = micromamba_program(variables)
    return ["sh", "-c", _INSTALL, program, *target_option(environment), *channels, *specs]


def installation_failure(specs: Sequence[str], output: str, code: int) -> LibraryInstallationError:
    """Return the error for packages that could not be added, with micromamba's output."""
    # trust: the output of micromamba has text of packages in it.
    text = strip_controls(output).strip()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    said = [number for number, line in enumerate(lines) if line.startswith(("critical", "error"))]
    words = "; ".join(lines[said[-1] :] if said else lines[-1:])[:500]
    hint = None
    if _UNREACHABLE.search(words):
        hint = "the channel could not be reached: CONDA_CHANNELS in the image names another"
    elif "denied" in words or "Read-only" in words:
        hint = "pass libraries=[...] when the session is made, or install them in the image"
    return LibraryInstallationError(
        f"{', '.join(specs)} could not be installed: "
        f"{words or f'micromamba ended with exit status {code}'}",
        packages=specs,
        output=text,
        op="install",
        hint=hint,
    )


@dataclass(frozen=True)
class CondaImages:
    """Images of one engine that add libraries to another image.

    Attributes:
        engine: The engine.
        variables: Variables for micromamba beside the image's own, such as ``CONDA_CHANNELS``.
        network: The engine's network that packages come through; None for its default.
    """

    engine: Engine
    variables: Mapping[str, str]
    network: str | None = None

    @property
    def _api(self) -> Any:
        # Its type hints are incomplete, and partly wrong.
        return self.engine.api

    def ensure(
        self, image: str, environment: str, specs: Sequence[str], timeout_s: float | None = 600.0
    ) -> str:
        """Return the name of the image with `specs` in `environment`, which is built if missing.

        Args:
            image: Id of the image to start from.
            environment: Name or path of the environment in it.
            specs: Conda packages.
            timeout_s: Seconds that it may take; 600.

        Raises:
            ValidationError: One is not a package specification.
            LibraryInstallationError: They could not be installed.
            SandboxTimeoutError: It took longer.
        """
        wanted = validate_specs(specs)
        engine = self.engine
        with engine.errors("inspect", image):
            config: dict[str, Any] = self._api.inspect_image(image)["Config"]
        pairs = (entry.partition("=") for entry in config.get("Env") or [])
        variables = {name: value for name, _, value in pairs} | dict(self.variables)
        command = install_command(environment, wanted, variables)
        facts = [_FORMAT, image, command, variables.get("CONDA_CHANNELS")]
        tag = hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]
        name = f"{_REPOSITORY}:{tag}"
        try:
            with engine.errors("inspect", name):
                self._api.inspect_image(name)
        except ImageNotFoundError:
            announce(f"installing {', '.join(wanted)} into the environment {environment!r}")
            self._make(image, command, config, wanted, tag, Deadline.after(timeout_s))
        return name

    def _make(
        self,
        image: str,
        command: list[str],
        config: dict[str, Any],
        specs: list[str],
        tag: str,
        deadline: Deadline,
    ) -> None:
        from docker.types import LogConfig

        engine = self.engine
        with engine.errors("create", image):
            limits = self._api.create_host_config(
                network_mode=self.network,
                cap_drop=["ALL"],
                security_opt=["no-new-privileges:true"],
                pids_limit=_PROCESSES,
                mem_limit=_MEMORY_BYTES,
                log_config=LogConfig(type="json-file", config={"max-size": "1m"}),
            )
            made = self._api.create_container(
                image,
                command[1:],
                entrypoint=command[:1],
                environment=dict(self.variables),
                labels=new_labels(),
                host_config=limits,
            )
        container = str(made["Id"])
        try:
            with engine.errors("start", image):
                self._api.start(container)
            code = self._wait(container, specs, deadline)
            if code:
                raise installation_failure(specs, self._output(container), code)
            # It keeps the image's configuration, and has no owner, so that gc leaves it: the engine
            # takes the rest from the container.
            labels = {**(config.get("Labels") or {}), MARK: VERSION, OWNER: ""}
            labels[STARTED] = new_labels()[STARTED]
            with engine.errors("commit", image):
                self._api.commit(container, _REPOSITORY, tag, conf={**config, "Labels": labels})
        finally:
            remove_soon(engine, container)

    def _wait(self, container: str, specs: Sequence[str], deadline: Deadline) -> int:
        while True:
            with self.engine.errors("inspect"):
                state = self._api.inspect_container(container)["State"]
            if not state["Running"]:
                return int(state["ExitCode"])
            if deadline.expired:
                raise SandboxTimeoutError(
                    f"installing {', '.join(specs)} took longer than allowed", op="install"
                )
            time.sleep(_POLL_S)

    def _output(self, container: str) -> str:
        with self.engine.errors("logs"):
            output: bytes = self._api.logs(container, tail=_KEPT_LINES)
        return output[-_KEPT_OUTPUT:].decode("utf-8", "replace")
