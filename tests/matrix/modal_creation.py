"""Parameters of Modal's `Sandbox.create`, tried on each backend."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import Limits
from llm_sandbox import Sandbox as Machine
from llm_sandbox.adapters import modal
from llm_sandbox.adapters.modal import Sandbox
from llm_sandbox.adapters.modal.exception import InvalidError
from llm_sandbox.backends.recipes import image_name
from tests.matrix.modal_probes import probe, said
from tests.network.conftest import GREETING, Host, own_addresses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.matrix.modal_probes import Modal


@probe("create-app")
def app(face: Modal) -> None:
    """Its sandboxes are its own, and those of an app that runs end with that."""
    running = modal.App("matrix")
    with pytest.raises(ValueError, match="not running"):
        Sandbox.create(app=running)
    with running.run():
        sandbox = Sandbox.create(app=running)
        assert [sandbox.object_id] == [one.object_id for one in Sandbox.list(app_id=running.app_id)]
    sandbox.wait(raise_on_termination=False)
    assert 137 == sandbox.poll()


@probe("create-environment_name")
def environment_name(face: Modal) -> None:
    with face.create(environment_name="main"):
        pass


@probe("create-image")
def image(face: Modal) -> None:
    """Programs are the image's."""
    with face.create(image=modal.Image.from_registry(image_name("python"))) as sandbox:
        assert "Python 3" in said(sandbox, "python3", "--version")


@probe("create-mounts")
def mounts(face: Modal) -> None:
    """Local files are in the sandbox."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "given.txt").write_text("given")
        mount = modal.Mount.from_local_dir(folder, remote_path="/tmp/given")
        with face.create(mounts=[mount]) as sandbox:
            assert "given" == said(sandbox, "cat", "/tmp/given/given.txt")


@probe("create-secrets", "create-workdir")
def secrets(face: Modal) -> None:
    """Every program has these variables, and begins in this directory."""
    secret = modal.Secret.from_dict({"TOKEN": "t0ken"})
    # There is one everywhere.
    with face.create(secrets=[secret], workdir="/tmp") as sandbox:
        assert "t0ken /tmp\n" == said(sandbox, "sh", "-c", "echo $TOKEN $(pwd)")
    with pytest.raises(InvalidError, match="workdir"):
        Sandbox.create(app=face.app, workdir="work")


@probe("create-network_file_systems")
def network_file_systems(face: Modal) -> None:
    kept = modal.NetworkFileSystem.from_name("matrix")
    with face.create(network_file_systems={"/kept": kept}) as sandbox:
        said(sandbox, "sh", "-c", "echo here > /kept/mark")
    with face.create(network_file_systems={"/kept": kept}) as sandbox:
        assert "here\n" == said(sandbox, "cat", "/kept/mark")


@probe("create-volumes")
def volumes(face: Modal) -> None:
    """What one sandbox writes there another reads."""
    name = f"matrix-{face.backend}"
    try:
        volume = modal.Volume.from_name(name, create_if_missing=True)
        with face.create(volumes={"/kept": volume}) as sandbox:
            said(sandbox, "sh", "-c", "echo here > /kept/mark")
        with face.create(volumes={"/kept": volume}) as sandbox:
            assert "here\n" == said(sandbox, "cat", "/kept/mark")
    finally:
        modal.Volume.delete(name)


@probe("create-volumes-bucket")
def buckets(face: Modal) -> None:
    with face.create(volumes={"/kept": modal.CloudBucketMount("a-bucket")}):
        pass


@probe("create-gpu")
def gpu(face: Modal) -> None:
    with face.create(gpu="any") as sandbox:
        assert "nvidia" in said(sandbox, "sh", "-c", "ls /dev")


@probe("create-cloud")
def cloud(face: Modal) -> None:
    with face.create(cloud="aws"):
        pass


@probe("create-region")
def region(face: Modal) -> None:
    with face.create(region="eu"):
        pass


@probe("create-scheduler_placement")
def placement(face: Modal) -> None:
    with face.create(_experimental_scheduler_placement=modal.SchedulerPlacement()):
        pass


@probe("create-proxy")
def proxy(face: Modal) -> None:
    with face.create(proxy=modal.Proxy.from_name("matrix")):
        pass


@probe("create-cpu")
def cpu(face: Modal) -> None:
    """The sandbox has this share, and no limit by it."""
    with face.create(cpu=0.5) as sandbox:
        said(sandbox, "true")
        limits = limits_of(sandbox)
        assert (0.5, None) == (limits.cpus_requested, limits.cpus)


@probe("create-cpu-limit")
def cpu_limit(face: Modal) -> None:
    with face.create(cpu=(0.25, 0.5)) as sandbox:
        said(sandbox, "true")
        limits = limits_of(sandbox)
        assert (0.25, 0.5) == (limits.cpus_requested, limits.cpus)


@probe("create-memory")
def memory(face: Modal) -> None:
    with face.create(memory=64) as sandbox:
        said(sandbox, "true")
        assert 64 << 20 == limits_of(sandbox).memory_requested_bytes
    with pytest.raises(InvalidError, match="memory"):
        Sandbox.create(app=face.app, memory=0)


def limits_of(sandbox: Sandbox) -> Limits:
    """What the library says of it."""
    machine = Machine.attach(sandbox.object_id)
    try:
        return machine.limits
    finally:
        machine.detach()


@probe("create-memory-limit")
def memory_limit(face: Modal) -> None:
    """Who takes more does not get it."""
    with face.create(memory=(64, 128)) as sandbox:
        said(sandbox, "true")
        process = sandbox.exec("python3", "-c", "x = bytearray(400 << 20); print(len(x))")
        assert 0 != process.wait()
        assert "" == process.stdout.read()


@probe("create-block_network")
def block_network(face: Modal) -> None:
    """Nothing is reached, though it would be without it."""
    modal.configure(network="open")
    with served() as (address, port):
        with face.create(block_network=True) as sandbox:
            assert "" == reached(sandbox, address, port)
        with face.create() as sandbox:
            assert GREETING.decode() == reached(sandbox, address, port)


@probe("create-cidr_allowlist")
def cidr_allowlist(face: Modal) -> None:
    """What is listed is let through, and nothing else."""
    with served() as (address, port):
        with face.create(cidr_allowlist=[f"{address}/32"]) as sandbox:
            assert GREETING.decode() == reached(sandbox, address, port)
        with face.create(cidr_allowlist=["192.0.2.0/24"]) as sandbox:
            assert "" == reached(sandbox, address, port)


@contextmanager
def served() -> Iterator[tuple[str, int]]:
    """A server of this machine, by an address that is not its loopback's."""
    host = Host()
    try:
        yield own_addresses()[0], host.port
    finally:
        host.close()


def reached(sandbox: Sandbox, address: str, port: int) -> str:
    """What is said to a program of the sandbox there; nothing, if it does not get there."""
    connect = f"socket.create_connection({(address, port)}, 5)"
    program = f"import socket; print(end={connect}.recv(99).decode())"
    text: str = sandbox.exec("python3", "-c", program).stdout.read()
    return text


TERMINAL = SimpleNamespace(winsz_rows=30, winsz_cols=90, env_term="vt100")
SHOW = ("sh", "-c", "stty size; echo $TERM")
SHOWN = "30 90 vt100"


@probe("create-pty_info")
def pty_info(face: Modal) -> None:
    """The entrypoint has a terminal."""
    with face.create(*SHOW, pty_info=TERMINAL) as sandbox:
        assert SHOWN == " ".join(sandbox.stdout.read().split())


@probe("exec-pty_info", "exec-_pty_info")
def exec_pty_info(face: Modal) -> None:
    """The program has a terminal."""
    for name in ("pty_info", "_pty_info"):
        assert SHOWN == " ".join(face.output(*SHOW, **{name: TERMINAL}).split())
