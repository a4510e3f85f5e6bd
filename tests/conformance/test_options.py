"""Every option of creation, on every backend: it works, or is refused by its name.

The options are those of `Sandbox.create` as it stands: one more without a case here fails.
"""

from __future__ import annotations

import inspect
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import (
    Bind,
    CommandReady,
    Limits,
    NetworkRules,
    PortReady,
    Sandbox,
    Secret,
    Terminal,
    Tmpfs,
    Volume,
    __version__,
)
from llm_sandbox.exceptions import UnsupportedError
from llm_sandbox.testing.suite import eventually, usable_backend
from tests.plugins.cluster import POD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

BACKENDS = [
    "bubblewrap",
    pytest.param("docker", marks=pytest.mark.engine("docker", image="python")),
    pytest.param("podman", marks=pytest.mark.engine("podman", image="python")),
    pytest.param("local", marks=pytest.mark.filterwarnings("ignore:.*does not isolate")),
]
IMAGE = f"llm-sandbox/python:{__version__}"
LISTEN = "import socket; socket.create_server(('127.0.0.1', 7000)).accept()[0].send(b'in')"
VALUE = "open-sesame-1001"


@dataclass(frozen=True)
class Case:
    """An option and how it is seen that it is honoured."""

    parameter: str
    options: dict[str, Any]
    honoured: Callable[[Sandbox], bool]
    refused: frozenset[str] = frozenset()
    """Backends that refuse it."""
    by_probe: bool = False
    """True if a backend may refuse the option for what this machine lacks."""


def said(*command: str) -> Callable[[Sandbox], str]:
    return lambda sandbox: sandbox.check(*command).stdout.strip()


def printed(name: str, text: str) -> Callable[[Sandbox], bool]:
    return lambda sandbox: said("printenv", name)(sandbox) == text


def has(name: str, value: object) -> Callable[[Sandbox], bool]:
    return lambda sandbox: getattr(sandbox, name) == value


def ends(reason: str) -> Callable[[Sandbox], bool]:
    return lambda sandbox: eventually(lambda: sandbox.end_reason == reason, 30)


def reads_entry(sandbox: Sandbox) -> bool:
    return sandbox.entry is not None and next(sandbox.entry.stdout.lines()) == "entry"


def shows_a_terminal(sandbox: Sandbox) -> bool:
    return sandbox.entry is not None and next(sandbox.entry.stdout.lines()) == "30 90\r"


def is_reached(sandbox: Sandbox) -> bool:
    import socket

    sandbox.exec("python3", "-c", LISTEN)

    def answered() -> bool:
        try:
            with socket.create_connection(sandbox.tunnels()[7000].tcp_socket, 10) as line:
                return line.recv(10) == b"in"
        except OSError:
            return False

    return eventually(answered, 30)


def is_the_hosts_network(sandbox: Sandbox) -> bool:
    """Return whether the network interfaces are those of this machine, or of an engine."""
    names = "import socket; print(sorted(name for _, name in socket.if_nameindex()))"
    import socket

    own = str(sorted(name for _, name in socket.if_nameindex()))
    # An engine's own network has one; that of this machine may have none.
    return said("python3", "-c", names)(sandbox) in (own, "['eth0', 'lo']", "['lo', 'tap0']")


def is_ready(sandbox: Sandbox) -> bool:
    sandbox.files.write_text("ready", "")
    sandbox.exec("python3", "-c", LISTEN)
    sandbox.wait_until_ready(30)
    return True


def is_kept(sandbox: Sandbox) -> bool:
    sandbox.detach()
    again = Sandbox.attach(sandbox.id)
    works = said("echo", "kept")(again) == "kept"
    again.destroy()
    return works


LOCAL = frozenset({"local"})
NEITHER = LOCAL | {"kubernetes"}
"""Without folders of this machine."""
CASES = {
    "command": Case("command", {"command": ("sh", "-c", "echo entry; cat")}, reads_entry),
    "backend": Case("backend", {}, lambda sandbox: sandbox.poll() is None),
    "image": Case("image", {"image": IMAGE}, said("pwd"), frozenset({"bubblewrap", "local"})),  # type: ignore[arg-type]
    "writable_root": Case(
        "writable_root",
        {"writable_root": True},
        # As far as its user may: in an image, that is not much.
        lambda sandbox: sandbox.sh("touch /etc/own.conf || touch /run/lock/own").wait() == 0,
        LOCAL,
        by_probe=True,
    ),
    "workdir": Case(
        "workdir",
        {"workdir": "/elsewhere/deep"},
        lambda sandbox: said("pwd")(sandbox) == sandbox.workdir == "/elsewhere/deep",
        LOCAL,
    ),
    "env": Case("env", {"env": {"WORD": "a b"}}, printed("WORD", "a b")),
    "secrets": Case("secrets", {"secrets": {"TOKEN": VALUE}}, printed("TOKEN", VALUE)),
    "secret in a file": Case(
        "secrets",
        {"secrets": [Secret("TOKEN", VALUE, delivery="file")]},
        lambda sandbox: said("sh", "-c", 'cat "$TOKEN_FILE"')(sandbox) == VALUE,
        LOCAL,
    ),
    "secret by placeholder": Case(
        "secrets",
        {
            "secrets": [Secret("TOKEN", VALUE, "placeholder", ["api.example.com"])],
            "network": NetworkRules.allow(domains=["api.example.com"]),
        },
        lambda sandbox: VALUE not in said("env")(sandbox) and "TOKEN=" in said("env")(sandbox),
        LOCAL,
    ),
    "limits": Case(
        "limits",
        {"limits": Limits(output_bytes=5)},
        lambda sandbox: sandbox.exec("echo", "a longer text").collect().stdout == "a lon",
    ),
    "limits.cpus": Case(
        "limits",
        {"limits": Limits(cpus=0.5)},
        lambda sandbox: sandbox.isolation.state("cpu") == "enforced",
        LOCAL,
        by_probe=os.geteuid() != 0,
    ),
    "network blocked": Case("network", {"network": "blocked"}, has("network", "blocked")),
    "network open": Case("network", {"network": "open"}, is_the_hosts_network),
    "network internet": Case("network", {"network": "internet"}, has("network", "internet"), LOCAL),
    "network rules": Case(
        "network",
        {"network": NetworkRules.allow(domains=["example.com"])},
        lambda sandbox: "rules" in sandbox.isolation.controls["network"].by,
        LOCAL,
    ),
    "ports": Case("ports", {"ports": (7000,)}, is_reached, LOCAL),
    "a folder": Case(
        "mounts",
        {"mounts": {"/given": Bind("FOLDER")}},
        lambda sandbox: said("cat", "/given/file")(sandbox) == "of the host",
        NEITHER,
    ),
    "a volume": Case(
        "mounts",
        {"mounts": {"/cache": Volume("cache")}},
        lambda sandbox: sandbox.sh("echo kept > /cache/file").wait() == 0,
        NEITHER,
    ),
    "memory": Case(
        "mounts",
        {"mounts": {"/scratch": Tmpfs("1m")}},
        lambda sandbox: sandbox.sh("head -c 2000000 /dev/zero > /scratch/a").wait() != 0,
        NEITHER,
    ),
    "gpu": Case("gpu", {"gpu": "all"}, said("sh", "-c", "ls /dev/nvidia*"), by_probe=True),  # type: ignore[arg-type]
    "ready by a command": Case("ready", {"ready": CommandReady("test", "-e", "ready")}, is_ready),
    "ready by a port": Case("ready", {"ready": PortReady(7000)}, is_ready),
    "pty": Case(
        "pty",
        {"command": ("sh", "-c", "stty size; cat"), "pty": Terminal(30, 90)},
        shows_a_terminal,
    ),
    "timeout": Case("timeout", {"timeout": 0.5}, ends("deadline")),
    "idle_timeout": Case("idle_timeout", {"idle_timeout": 0.5}, ends("idle")),
    "name": Case(
        "name", {"name": "called"}, lambda sandbox: Sandbox.from_name("called").id == sandbox.id
    ),
    "namespace": Case(
        "namespace",
        {"name": "called", "namespace": "other"},
        lambda sandbox: Sandbox.from_name("called", "other").id == sandbox.id,
    ),
    "tags": Case(
        "tags",
        {"tags": {"of": "options"}},
        lambda sandbox: [one.id for one in Sandbox.list({"of": "options"})] == [sandbox.id],
    ),
    "on_exit": Case("on_exit", {"on_exit": "keep"}, is_kept),
}


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A registry and stores of the test's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    yield tmp_path
    for sandbox in Sandbox.list():
        sandbox.destroy()
    Sandbox.gc()


def test_every_option_has_a_case() -> None:
    """And no case is of an option that there is not."""
    parameters = set(inspect.signature(Sandbox.create).parameters)

    assert parameters == {case.parameter for case in CASES.values()}
    for case in CASES.values():
        assert case.parameter in case.options or case.parameter == "backend"


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("backend", [*BACKENDS, POD])
def test_an_option_works_or_is_refused_by_its_name(backend: str, case: Case, state: Path) -> None:
    is_entered = backend not in ("bubblewrap", "kubernetes")
    if is_entered and case.parameter == "network" and os.geteuid() != 0:
        pytest.skip(f"{backend}: only root can enter the network of a container")
    usable_backend(backend)
    (state / "given").mkdir()
    (state / "given" / "file").write_text("of the host")
    options = dict(case.options)
    command = options.pop("command", ())
    if any(isinstance(one, Bind) for one in options.get("mounts", {}).values()):
        options["mounts"] = {"/given": Bind(state / "given")}
    refusal = None
    try:
        sandbox = Sandbox.create(*command, backend=backend, **options)
    except UnsupportedError as error:
        refusal = error
    if refusal is not None:
        assert backend in case.refused or case.by_probe, refusal
        # Of several that are refused, one is named.
        names = [name.rstrip("s") for name in (case.parameter, *case.options)]
        assert any(name in refusal.feature.lower() for name in names), refusal.feature
        assert refusal.backend == backend
        assert refusal.reason
        return
    with sandbox:
        assert backend not in case.refused, "it is not refused"
        assert sandbox.backend == backend
        assert case.honoured(sandbox)
