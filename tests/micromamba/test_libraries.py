"""Conda packages: into an image of their own before a session, or in place where doors are open."""

import contextlib
import secrets

import pytest

from llm_sandbox import Sandbox
from llm_sandbox.backends.base import MachineSpec
from llm_sandbox.backends.containers.gc.labels import new_labels
from llm_sandbox.backends.containers.gc.removal import wait_until_removed
from llm_sandbox.backends.inventory import current_owner
from llm_sandbox.exceptions import (
    ImageNotFoundError,
    LibraryInstallationError,
    SandboxTimeoutError,
    UnsupportedError,
)

_LATE = ("python", "-c", "import late; print(late.VERSION)")
_LOCAL = {"environment": {"CONDA_CHANNELS": "file:///opt/channel"}, "network_mode": "none"}


@pytest.fixture(scope="module")
def network(engine):
    """A network of the engine's that leads nowhere."""
    made = engine.client.networks.create(
        f"llm-sandbox-test-{secrets.token_hex(4)}", internal=True, labels=new_labels()
    )
    yield made.name
    wait_until_removed()
    made.remove()


@pytest.fixture
def forget(engine):
    """Remove the images that a test has made."""
    made = []
    yield made.append
    wait_until_removed()
    for name in made:
        with contextlib.suppress(ImageNotFoundError), engine.errors("remove", name):
            engine.api.remove_image(name)


def test_libraries_are_there_in_later_sandboxes(backend_for, engine, forget):
    plain = backend_for("science", runtime_configs=_LOCAL)
    with Sandbox.create(backend=plain) as sandbox:
        assert sandbox.exec(*_LATE).collect().exit_code == 1
    with_late = plain.with_libraries(["late"])
    forget(with_late.image())
    with Sandbox.create(backend=with_late) as sandbox:
        assert "1.0\n" == sandbox.exec(*_LATE).collect().stdout
        assert "greet 2.0" in sandbox.exec("greet").collect().stdout
    made = engine.api.inspect_image(with_late.image())
    assert made["Config"]["Entrypoint"] == ["/usr/local/bin/_entrypoint.sh"]
    assert made["Config"]["User"] == "mambauser"
    assert not made["Config"]["Labels"].get("llm-sandbox.owner")
    assert with_late is plain.with_libraries(["late", "late"])
    again = backend_for("science", runtime_configs=_LOCAL).with_libraries(["late"])
    assert made["Id"] == engine.api.inspect_image(again.image())["Id"]


def test_a_package_that_is_nowhere_fails_in_micromambas_words(backend_for, engine):
    backend = backend_for("science", runtime_configs=_LOCAL).with_libraries(["no-such-package"])
    with pytest.raises(LibraryInstallationError) as caught:
        Sandbox.create(backend=backend)
    assert "critical libmamba" in caught.value.output
    assert "no-such-package" in caught.value.message
    wait_until_removed()
    assert [] == _installers(engine)


def test_an_unreachable_channel_is_said_to_be_one(backend_for):
    closed = {"environment": {"CONDA_CHANNELS": "http://127.0.0.1:9/none"}, "network_mode": "none"}
    backend = backend_for("science", runtime_configs=closed).with_libraries(["late"])
    with pytest.raises(LibraryInstallationError) as caught:
        Sandbox.create(backend=backend)
    assert "critical libmamba" in caught.value.message
    assert "could not be reached" in caught.value.hint


def test_an_installation_has_a_deadline(backend_for, engine):
    backend = backend_for("science", runtime_configs=_LOCAL).with_libraries(["late", "place"])
    with pytest.raises(SandboxTimeoutError):
        backend.image(timeout_s=0.01)
    wait_until_removed()
    assert [] == _installers(engine)


def test_no_libraries_for_a_container_that_exists(backend_for):
    with pytest.raises(UnsupportedError):
        backend_for("science", image=None, container_id="any").with_libraries(["late"])


@contextlib.contextmanager
def _machine(backend, network="open"):
    machine = backend.create(MachineSpec(network=network))
    try:
        yield machine, Sandbox.from_machine(machine)
    finally:
        machine.destroy()


def test_in_place_takes_an_open_network(backend_for):
    blocked = _machine(backend_for("science"), "blocked")
    with blocked as (machine, _), pytest.raises(LibraryInstallationError) as caught:
        machine.install_packages(["late"])
    assert "no network" in caught.value.message
    assert "when the session is made" in caught.value.hint


def test_in_place_takes_an_environment_that_can_be_written(backend_for, network):
    opened = _machine(backend_for("science", runtime_configs={"network": network}))
    with opened as (machine, _), pytest.raises(LibraryInstallationError) as caught:
        machine.install_packages(["late"])
    assert "critical libmamba" in caught.value.output


def test_in_place(backend_for, network):
    local = {"environment": _LOCAL["environment"], "network": network}
    writable = {"read_only": False, "user": "57439:57439", **local}
    with _machine(backend_for("science", runtime_configs=writable)) as (machine, sandbox):
        machine.install_packages(["late"])
        assert "1.0\n" == sandbox.exec(*_LATE).collect().stdout


def _installers(engine):
    """Containers of this process that install."""
    mine = f"llm-sandbox.owner={current_owner()}"
    found = engine.api.containers(all=True, filters={"label": mine})
    return [container for container in found if "install --yes" in container["Command"]]
