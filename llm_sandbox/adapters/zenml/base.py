"""What every sandbox component has: its record, its settings, its flavor."""

import builtins
from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, cast
from uuid import UUID

from pydantic import Field

from llm_sandbox.adapters.zenml.references import SettingsModel, is_secret_reference
from llm_sandbox.adapters.zenml.session import SandboxSession
from llm_sandbox.adapters.zenml.snapshot import SandboxSnapshot
from llm_sandbox.adapters.zenml.steps import Step, get_active_step
from llm_sandbox.exceptions import UnsupportedError, ValidationError

__all__ = [
    "BaseSandbox",
    "BaseSandboxConfig",
    "BaseSandboxFlavor",
    "BaseSandboxSettings",
    "StackComponentType",
]


class StackComponentType(StrEnum):
    """Kinds of stack components, as far as there are any here."""

    SANDBOX = "sandbox"


class BaseSandboxSettings(SettingsModel):
    """Settings that every sandbox has."""

    sandbox_environment: dict[str, str] = Field(
        default_factory=dict,
        description="Environment variables of every command in the sandbox. A value may be a "
        "secret reference, {{name.key}}.",
    )


class BaseSandboxConfig(SettingsModel):
    """Configuration of a component; flavors add their settings to it."""

    @property
    def is_remote(self) -> bool:
        """Whether the sandbox is on another machine."""
        return False

    @property
    def is_local(self) -> bool:
        """Whether the sandbox is on this machine."""
        return not self.is_remote


class BaseSandbox(ABC):
    """A component that makes sandbox sessions.

    Its record is what ZenML keeps of a component. `environment` and `secrets` are variables of the
    *step* that uses the component, and enter no sandbox: `BaseSandboxSettings.sandbox_environment`
    does.

    Args:
        name: Its name; no secret reference.
        id: Its id, which snapshots carry.
        config: Its configuration.
        flavor: Name of its flavor.
        type: Its kind.
        user: Who made it.
        created: When it was made.
        updated: When it was changed last.
        environment: Variables of steps that use it.
        secrets: Ids of secrets whose values are such variables.
        labels: What it is marked with.
        connector_requirements: What a service connector would have to offer.
        connector: Id of a service connector.
        connector_resource_id: What the connector is to be asked for.
        args: None.
        kwargs: None.

    Raises:
        ValidationError: The name is a secret reference.
        TypeError: There are more arguments than these.
    """

    def __init__(
        self,
        name: str,
        id: UUID,
        config: BaseSandboxConfig,
        flavor: str,
        type: StackComponentType,
        user: UUID | None,
        created: datetime,
        updated: datetime,
        environment: dict[str, str] | None = None,
        secrets: list[UUID] | None = None,
        labels: dict[str, Any] | None = None,
        connector_requirements: object = None,
        connector: UUID | None = None,
        connector_resource_id: str | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        if args or kwargs:
            more = [*map(repr, args), *kwargs]
            raise TypeError(f"a sandbox component has no {', '.join(more)}")
        if is_secret_reference(name):
            raise ValidationError("a component's name is no secret reference", parameter="name")
        self.name = name
        self.id = id
        self._config = config
        self.flavor = flavor
        self.type = type
        self.user = user
        self.created = created
        self.updated = updated
        self.environment = environment or {}
        self.secrets = secrets or []
        self.labels = labels
        self.connector_requirements = connector_requirements
        self.connector = connector
        self.connector_resource_id = connector_resource_id

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}, flavor {self.flavor}>"

    @property
    def config(self) -> BaseSandboxConfig:
        """Its configuration."""
        return self._config

    @property
    def settings_class(self) -> type[BaseSandboxSettings] | None:
        """Class of its settings."""
        return BaseSandboxSettings

    @abstractmethod
    def create_session(
        self, settings: BaseSandboxSettings | None = None, destroy_on_exit: bool = False
    ) -> SandboxSession:
        """Make a sandbox, and a session of it.

        Args:
            settings: Settings over those of the component and the step; see `resolve_settings`.
            destroy_on_exit: Whether the end of the session's ``with`` block destroys the sandbox.
        """

    def attach(self, session_id: str) -> SandboxSession:
        """Return another session of a living sandbox.

        Args:
            session_id: `SandboxSession.id`, of any process.
        """
        raise UnsupportedError(
            "attach()", self.flavor, "its sandboxes live in the process that made them"
        )

    def restore(self, snapshot: SandboxSnapshot) -> SandboxSession:
        """Make a new sandbox of what a session of this component has saved.

        Args:
            snapshot: What `SandboxSession.create_snapshot` returned.
        """
        raise UnsupportedError(
            "restore()", self.flavor, f"{type(self).__name__} does not implement it"
        )

    def resolve_settings(self, override: BaseSandboxSettings | None = None) -> BaseSandboxSettings:
        """Return the settings that a session gets.

        Those of the component, over them those of the active step, over them what `override` sets
        explicitly. A later one replaces an earlier one as a whole: dictionaries are not merged.

        Args:
            override: Settings of this flavor's class or a base of it.

        Raises:
            pydantic.ValidationError: A setting is none of this flavor, or its value is not one.
        """
        cls = self.settings_class
        assert cls is not None, "a sandbox has settings"  # noqa: S101
        known = cls.model_fields
        merged = {
            name: value
            for name, value in self.config.model_dump(exclude_unset=True).items()
            if name in known
        }
        step = self._get_step()
        if step is not None:
            merged.update(step.get_settings(self.type.value, self.flavor))
        if override is not None:
            merged.update(override.model_dump(exclude_unset=True))
        return cls.model_validate(merged)

    def _resolve_session_environment(self, settings: BaseSandboxSettings) -> dict[str, str]:
        """The variables of a session, secret references as they are."""
        return dict(settings.sandbox_environment)

    def _validate_snapshot(self, snapshot: SandboxSnapshot) -> None:
        """Refuse what another component has saved, which may have another store.

        Raises:
            ValidationError: It is such a one.
        """
        if snapshot.sandbox_id != self.id:
            raise ValidationError(
                f"the snapshot is of component {snapshot.sandbox_id}, and this is {self.id}",
                parameter="snapshot",
                hint="restore it with the component that saved it",
            )

    def _get_step(self) -> Step | None:
        """The step that is active for the caller."""
        return get_active_step()

    def _get_secret(self, name: str, key: str) -> str:
        """The value that a secret reference names."""
        raise UnsupportedError(
            f"{{{{{name}.{key}}}}}",
            self.flavor,
            "without ZenML there is no store of secrets",
            hint="use the flavors of llm_sandbox.adapters.zenml.stack, or give the value itself",
        )


class BaseSandboxFlavor(ABC):
    """A kind of sandbox component: its name, and the classes that it is made of."""

    logo: ClassVar[str] = (
        "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'%3E"
        "%3Cpath d='M1 1h6v6H1zM2 2v4h4V2z' fill='%23777' fill-rule='evenodd'/%3E%3C/svg%3E"
    )

    @property
    @abstractmethod
    def name(self) -> str:
        """Its name."""

    @property
    def type(self) -> StackComponentType:
        """`StackComponentType.SANDBOX`."""
        return StackComponentType.SANDBOX

    @property
    def docs_url(self) -> str | None:
        """Where its documentation is; None for none online."""
        return None

    @property
    def sdk_docs_url(self) -> str | None:
        """Where its API is documented; None for nowhere online."""
        return None

    @property
    def logo_url(self) -> str:
        """A picture for it, which is in the URL itself."""
        return self.logo

    @property
    def config_class(self) -> builtins.type[BaseSandboxConfig]:
        """Class of its components' configuration."""
        return BaseSandboxConfig

    @property
    def config_schema(self) -> Mapping[str, Any]:
        """JSON schema of that class."""
        return cast("Mapping[str, Any]", self.config_class.model_json_schema())

    @property
    @abstractmethod
    def implementation_class(self) -> builtins.type[BaseSandbox]:
        """Class of its components."""
