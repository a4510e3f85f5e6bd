"""Base classes of sandbox components: record, settings, flavor."""

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
    """Types of stack components in this package."""

    SANDBOX = "sandbox"


class BaseSandboxSettings(SettingsModel):
    """Settings common to all sandboxes."""

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
    """Base of components that create sandbox sessions.

    The attributes are the record that ZenML keeps of a component. `environment` and `secrets` are
    variables of the *step* that uses the component, and enter no sandbox:
    `BaseSandboxSettings.sandbox_environment` does.

    Args:
        name: Name of the component; not a secret reference.
        id: Id of the component, which snapshots carry.
        config: Configuration of the component.
        flavor: Name of its flavor.
        type: Type of the component.
        user: Id of the user who created it.
        created: Time of creation.
        updated: Time of the last change.
        environment: Environment variables of steps that use the component.
        secrets: Ids of secrets with further environment variables of such steps.
        labels: Labels of the component.
        connector_requirements: Requirements of a service connector.
        connector: Id of a service connector.
        connector_resource_id: Resource id for the connector.
        args: None.
        kwargs: None.

    Raises:
        ValidationError: The name is a secret reference.
        TypeError: Unknown arguments are given.
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
            raise ValidationError(
                "a component's name cannot be a secret reference", parameter="name"
            )
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
        """Configuration of the component."""
        return self._config

    @property
    def settings_class(self) -> type[BaseSandboxSettings] | None:
        """Class of the component's settings."""
        return BaseSandboxSettings

    @abstractmethod
    def create_session(
        self, settings: BaseSandboxSettings | None = None, destroy_on_exit: bool = False
    ) -> SandboxSession:
        """Create a sandbox, and a session of it.

        Args:
            settings: Settings that override those of the component and the step; see
                `resolve_settings`.
            destroy_on_exit: Whether the end of the session's ``with`` block destroys the sandbox.
        """

    def attach(self, session_id: str) -> SandboxSession:
        """Return another session of a living sandbox.

        Args:
            session_id: `SandboxSession.id`, possibly of another process.
        """
        raise UnsupportedError(
            "attach()", self.flavor, "its sandboxes live in the process that made them"
        )

    def restore(self, snapshot: SandboxSnapshot) -> SandboxSession:
        """Create a sandbox from a snapshot of this component.

        Args:
            snapshot: Snapshot from `SandboxSession.create_snapshot`.
        """
        raise UnsupportedError(
            "restore()", self.flavor, f"{type(self).__name__} does not implement it"
        )

    def resolve_settings(self, override: BaseSandboxSettings | None = None) -> BaseSandboxSettings:
        """Return the effective settings of a session.

        Settings of the active step override those of the component, and explicitly set fields of
        `override` both. Values are replaced as a whole: dictionaries are not merged.

        Args:
            override: Settings of this flavor's class or a base of it.

        Raises:
            pydantic.ValidationError: A setting is unknown to the flavor, or its value is invalid.
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
        """Return the environment variables of a session, with unresolved secret references."""
        return dict(settings.sandbox_environment)

    def _validate_snapshot(self, snapshot: SandboxSnapshot) -> None:
        """Refuse a snapshot of another component, which may have another store.

        Raises:
            ValidationError: The snapshot belongs to another component.
        """
        if snapshot.sandbox_id != self.id:
            raise ValidationError(
                f"the snapshot is of component {snapshot.sandbox_id}, and this is {self.id}",
                parameter="snapshot",
                hint="restore it with the component that saved it",
            )

    def _get_step(self) -> Step | None:
        """Return the active step of the caller."""
        return get_active_step()

    def _get_secret(self, name: str, key: str) -> str:
        """Return the value of a secret reference."""
        raise UnsupportedError(
            f"{{{{{name}.{key}}}}}",
            self.flavor,
            "without ZenML there is no store of secrets",
            hint="use the flavors of llm_sandbox.adapters.zenml.stack, or give the value itself",
        )


class BaseSandboxFlavor(ABC):
    """Base of flavors: name and classes of a kind of sandbox component."""

    logo: ClassVar[str] = (
        "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'%3E"
        "%3Cpath d='M1 1h6v6H1zM2 2v4h4V2z' fill='%23777' fill-rule='evenodd'/%3E%3C/svg%3E"
    )

    @property
    @abstractmethod
    def name(self) -> str:
        """Name of the flavor."""

    @property
    def type(self) -> StackComponentType:
        """`StackComponentType.SANDBOX`."""
        return StackComponentType.SANDBOX

    @property
    def docs_url(self) -> str | None:
        """URL of the documentation; None for none."""
        return None

    @property
    def sdk_docs_url(self) -> str | None:
        """URL of the API documentation; None for none."""
        return None

    @property
    def logo_url(self) -> str:
        """Data URL of the logo."""
        return self.logo

    @property
    def config_class(self) -> builtins.type[BaseSandboxConfig]:
        """Class of the components' configuration."""
        return BaseSandboxConfig

    @property
    def config_schema(self) -> Mapping[str, Any]:
        """JSON schema of `config_class`."""
        return cast("Mapping[str, Any]", self.config_class.model_json_schema())

    @property
    @abstractmethod
    def implementation_class(self) -> builtins.type[BaseSandbox]:
        """Class of the components."""
