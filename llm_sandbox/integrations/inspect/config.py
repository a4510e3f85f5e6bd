"""Configuration of the sandboxes of an evaluation: in Python, in a file, or by default."""

import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic
from pydantic import BaseModel, BeforeValidator, Field

from llm_sandbox.backends.base import validate_workdir
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.limits import Limits

__all__ = ["CONFIG_FILE", "DEFAULT_NAME", "SandboxConfig", "read_config"]

CONFIG_FILE = "llm-sandbox-inspect.toml"
"""Name of the configuration file beside the task, used if nothing else is configured."""
DEFAULT_NAME = "default"
"""Name of inspect's unnamed sandbox."""

_OUTPUT = (
    "how much output comes back is inspect's to say: INSPECT_SANDBOX_MAX_EXEC_OUTPUT_SIZE, in bytes"
)


def _read_limits(given: object) -> object:
    """Parse limits from plain data; sizes may be text such as ``512m``."""
    if isinstance(given, dict):
        given = Limits.parse(given)
    if isinstance(given, Limits) and given.output_bytes != Limits().output_bytes:
        raise ValueError(f"output_bytes: {_OUTPUT}")
    return given


class SandboxConfig(BaseModel, frozen=True, extra="forbid"):
    """Settings of the default sandbox of each sample, and of further ones.

    The configuration is written to the log of an evaluation, so it must not contain secrets.

    Raises:
        pydantic.ValidationError: A value is invalid.
    """

    backend: str | None = None
    """Backend, such as ``docker``; None (default) for the first that isolates."""
    image: str | None = None
    """Image of a container backend; None (default) for the one of Python sessions."""
    workdir: Annotated[str, BeforeValidator(validate_workdir)] = "/sandbox"
    """Working directory, for relative paths; ``/sandbox``."""
    env: dict[str, str] = Field(default_factory=dict)
    """Environment variables of programs."""
    limits: Annotated[Limits, BeforeValidator(_read_limits)] = Limits()
    """Limits, as `Limits` or by their names: ``{"memory": "2g"}``. Inspect decides how much output
    is returned, so ``output_bytes`` is refused.
    """
    network: Literal["blocked", "internet", "open"] = "blocked"
    """``blocked`` (default), ``internet`` for what is public of it, or ``open`` for the host's
    network."""
    timeout: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """Seconds after which the sandbox ends; None (default) for the end of the sample."""
    sandboxes: dict[str, "SandboxConfig"] = Field(default_factory=dict)
    """Further sandboxes of each sample, by the names for ``sandbox("name")``."""

    @pydantic.model_validator(mode="after")
    def _check_names(self) -> "SandboxConfig":
        for name, other in self.sandboxes.items():
            if not name or name == DEFAULT_NAME or ":" in name:
                raise ValueError(f"a sandbox beside the {DEFAULT_NAME} cannot be called {name!r}")
            if other.sandboxes:
                raise ValueError(f"sandboxes.{name} cannot have sandboxes of its own")
        return self

    def __hash__(self) -> int:
        # inspect starts each configuration once, and looks it up in a set.
        return hash(self.model_dump_json())

    def by_name(self) -> dict[str, "SandboxConfig"]:
        """Return the settings of all sandboxes of a sample by name, the default one first."""
        return {DEFAULT_NAME: self, **self.sandboxes}


def read_config(given: BaseModel | str | None) -> SandboxConfig:
    """Return the configuration that inspect passes on.

    Args:
        given: `SandboxConfig`, path of a TOML file with its fields, or None for the defaults.

    Raises:
        ValidationError: The type is wrong, or the file is unreadable or invalid.
    """
    if given is None:
        return SandboxConfig()
    if isinstance(given, SandboxConfig):
        return given
    if not isinstance(given, str):
        raise ValidationError(
            f"llm_sandbox cannot be configured by a {type(given).__name__}",
            parameter="sandbox",
            hint='sandbox=("llm_sandbox", SandboxConfig(...)), or the path of a TOML file',
        )
    return _read_file(Path(given))


def _read_file(path: Path) -> SandboxConfig:
    try:
        data: dict[str, Any] = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
        return SandboxConfig(**data)
    except OSError as error:
        raise _wrong(path, f"cannot be read: {error.strerror}") from error
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        key = ".".join(map(str, first["loc"]))
        problem = f"{key}: {first['msg']}" if key else first["msg"]
        raise _wrong(path, f"is not one of sandboxes: {problem}") from error
    except ValueError as error:
        raise _wrong(path, f"is not TOML: {error}") from error


def _wrong(path: Path, words: str) -> ValidationError:
    known = ", ".join(SandboxConfig.model_fields)
    return ValidationError(
        f"the configuration {path} {words}",
        parameter="sandbox",
        hint=f"a TOML file with the fields of SandboxConfig: {known}",
    )
