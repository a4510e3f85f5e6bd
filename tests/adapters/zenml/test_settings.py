"""Settings: in which order they count, what refers to secrets, what a flavor is made of."""

from __future__ import annotations

import datetime
import logging
import uuid
from typing import Any

import pydantic
import pytest

from llm_sandbox import UnsupportedError, ValidationError
from llm_sandbox.adapters import zenml
from llm_sandbox.adapters.zenml import (
    BaseSandboxSettings,
    ContainerSandboxSettings,
    IsolatedSandboxSettings,
    LocalSandbox,
    LocalSandboxConfig,
    LocalSandboxSettings,
    LoggingStep,
    active_step,
)
from llm_sandbox.adapters.zenml.base import BaseSandboxConfig, StackComponentType
from llm_sandbox.adapters.zenml.references import SettingsModel
from llm_sandbox.limits import Limits
from tests.adapters.zenml.conftest import FLAVORS, component


def test_component_then_step_then_call() -> None:
    made = component("docker", image="of-component", cpu_limit=1.0, memory_limit="1g")
    step = LoggingStep({"sandbox.llm_sandbox_docker": {"image": "of-step", "cpu_limit": 2.0}})
    with active_step(step):
        found = made.resolve_settings(ContainerSandboxSettings(image="of-call"))
    assert isinstance(found, ContainerSandboxSettings)
    assert ("of-call", 2.0, "1g") == (found.image, found.cpu_limit, found.memory_limit)
    # Without a step its settings count for nothing.
    outside = made.resolve_settings()
    assert isinstance(outside, ContainerSandboxSettings)
    assert ("of-component", 1.0) == (outside.image, outside.cpu_limit)


def test_override_replaces_a_dictionary_as_a_whole() -> None:
    made = component(sandbox_environment={"A": "1", "B": "2"})
    found = made.resolve_settings(LocalSandboxSettings(sandbox_environment={"B": "3"}))
    assert {"B": "3"} == found.sandbox_environment


def test_only_what_was_set_overrides() -> None:
    """A default of the override is no wish."""
    made = component("bubblewrap", workdir="/there")
    found = made.resolve_settings(IsolatedSandboxSettings(cpu_limit=1.0))
    assert isinstance(found, IsolatedSandboxSettings)
    assert ("/there", 1.0) == (found.workdir, found.cpu_limit)


def test_settings_of_the_base_class_become_the_flavors() -> None:
    found = component().resolve_settings(BaseSandboxSettings(sandbox_environment={"A": "1"}))
    assert isinstance(found, LocalSandboxSettings)
    assert {"A": "1"} == found.sandbox_environment


def test_settings_of_another_flavor_are_refused() -> None:
    with pytest.raises(pydantic.ValidationError, match="image"):
        component().resolve_settings(ContainerSandboxSettings(image="x"))


@pytest.mark.parametrize("cls", [LocalSandboxSettings, LocalSandboxConfig])
def test_unknown_setting_is_refused(cls: Any) -> None:
    with pytest.raises(pydantic.ValidationError, match="forward"):
        cls(forward=True)


def test_settings_of_isolated_sandboxes() -> None:
    defaults = ContainerSandboxSettings()
    assert "open" == defaults.get_network()
    assert 86_400 == defaults.timeout
    assert Limits() == defaults.get_limits()
    some = IsolatedSandboxSettings(
        network="allowed", allowed_domains=["pypi.org"], memory_limit="512m", cpu_limit=1.5
    )
    rules = some.get_network()
    assert not isinstance(rules, str)
    assert ("pypi.org",) == rules.domains
    limits = some.get_limits()
    assert (512 << 20, 1.5) == (limits.memory_bytes, limits.cpus)


def test_names_that_nothing_would_let_through_are_refused() -> None:
    with pytest.raises(ValidationError, match="allowed_domains") as caught:
        IsolatedSandboxSettings(network="blocked", allowed_domains=["pypi.org"]).get_network()
    assert "network='allowed'" in str(caught.value)


# --- references to secrets


class Checked(SettingsModel):
    plain: str = ""
    secret: str = pydantic.Field(default="", json_schema_extra={"sensitive": True})
    clear: str = pydantic.Field(default="", json_schema_extra={"prevent_secret_reference": True})
    checked: str = ""

    @pydantic.field_validator("checked")
    @classmethod
    def _check(cls, value: str) -> str:
        return value


def test_reference_is_taken_where_nothing_looks_at_it() -> None:
    assert "{{vault.token}}" == Checked(plain="{{vault.token}}").plain
    assert "{{ vault.token }}" == Checked(secret="{{ vault.token }}").secret


@pytest.mark.parametrize("field", ["checked", "clear"])
def test_reference_is_refused_where_something_does(field: str) -> None:
    with pytest.raises(ValueError, match=field):
        Checked(**{field: "{{vault.token}}"})
    Checked(**{field: "text"})


def test_plain_secret_is_warned_of_when_asked(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        Checked(secret="hunter2")
        Checked(warn_about_plain_text_secrets=True, secret="{{vault.token}}", plain="hunter2")
        assert [] == caplog.messages
        Checked(warn_about_plain_text_secrets=True, secret="hunter2")
    assert 1 == len(caplog.messages)
    assert "secret" in caplog.messages[0]
    assert "hunter2" not in caplog.messages[0]


def test_reference_without_a_store_is_refused_and_not_handed_in() -> None:
    made = component(sandbox_environment={"TOKEN": "{{vault.token}}"})
    with pytest.raises(UnsupportedError, match=r"vault\.token"):
        made.create_session()


# --- components and flavors


def parts(name: str = "boxes", **more: Any) -> dict[str, Any]:
    now = datetime.datetime.now(datetime.UTC)
    facts = {"created": now, "updated": now, "user": None, "id": uuid.uuid4()}
    kind = {"type": StackComponentType.SANDBOX, "flavor": "local", "config": LocalSandboxConfig()}
    return {"name": name, **kind, **facts, **more}


def test_component_is_a_record() -> None:
    secret, connector = uuid.uuid4(), uuid.uuid4()
    given = parts(
        environment={"A": "1"},
        secrets=[secret],
        labels={"l": 1},
        connector=connector,
        connector_resource_id="r",
    )
    made = LocalSandbox(**given)
    assert given == {name: getattr(made, name) for name in given}
    bare = LocalSandbox(**parts())
    assert ({}, [], None) == (bare.environment, bare.secrets, bare.labels)


def test_environment_of_the_component_does_not_enter_the_sandbox() -> None:
    made = LocalSandbox(**parts(environment={"OF_THE_STEP": "1"}))
    with made.create_session() as session:
        assert "[]\n" == session.exec(["sh", "-c", "echo [$OF_THE_STEP]"]).collect().stdout


def test_name_is_no_reference() -> None:
    with pytest.raises(ValueError, match="name"):
        LocalSandbox(**parts("{{vault.token}}"))


def test_argument_that_means_nothing_is_refused() -> None:
    with pytest.raises(TypeError, match="colour"):
        LocalSandbox(**parts(colour="red"))


@pytest.mark.parametrize("backend", FLAVORS)
def test_flavor_is_whole(backend: str) -> None:
    flavor = FLAVORS[backend]()
    expected = backend if backend == "local" else f"llm_sandbox_{backend}"
    assert (expected, "sandbox") == (flavor.name, flavor.type)
    assert issubclass(flavor.config_class, BaseSandboxConfig)
    assert flavor.config_class().is_local
    made = component(backend)
    assert isinstance(made, zenml.BaseSandbox)
    assert made.settings_class is not None
    assert isinstance(made.config, flavor.config_class)
    assert isinstance(made.config, made.settings_class)
    assert flavor.logo_url.startswith("data:image/svg+xml,")
    assert (None, None) == (flavor.docs_url, flavor.sdk_docs_url)
    assert set(made.settings_class.model_fields) == set(flavor.config_schema["properties"])


def test_base_component_refuses_what_it_does_not_do() -> None:
    class Bare(zenml.BaseSandbox):
        def create_session(self, settings: Any = None, destroy_on_exit: bool = False) -> Any:
            raise AssertionError

    made = Bare(**parts())
    with pytest.raises(NotImplementedError, match="attach"):
        made.attach("any")
    with pytest.raises(NotImplementedError, match="restore"):
        made.restore(zenml.SandboxSnapshot(sandbox_id=made.id, ref="x"))
