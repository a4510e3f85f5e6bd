"""Pods that outlive the process that made them, and are found by others of its user."""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import PIPE, Sandbox
from llm_sandbox.backends.kubernetes.backend import KubernetesBackend
from llm_sandbox.backends.kubernetes.exec_stream import ExecStream
from llm_sandbox.backends.kubernetes.options import PodOptions
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import (
    BackendUnavailableError,
    NameInUseError,
    SandboxNotFoundError,
    SecurityError,
)
from llm_sandbox.guest.hub import MOST_CLIENTS
from llm_sandbox.guest.resumable import (
    CHALLENGE,
    KEY_SIZE,
    OPEN,
    PROOF,
    WELCOME,
    FramedConnection,
    LinkError,
)
from tests.detached.conftest import ROOT, client, registry, until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from llm_sandbox.backends.kubernetes.pods import Pods
    from tests.detached.conftest import Client, Registry
    from tests.kubernetes.api_proxy import ApiProxy

pytestmark = [pytest.mark.cluster, pytest.mark.slow, pytest.mark.timeout(240)]

__all__ = ["client", "registry"]  # fixtures of another folder

MAKER = """
import time
from llm_sandbox import Sandbox
from llm_sandbox.backends.kubernetes.backend import KubernetesBackend
from llm_sandbox.backends.kubernetes.options import PodOptions
options = {"on_exit": "keep"} | OPTIONS
sandbox = Sandbox.create(
    backend=KubernetesBackend(PodOptions(orphan_after=20)), name=NAME, env={"GREETING": "hello"},
    secrets={"TOKEN": "s3cr3t-value"}, limits={"memory": "128m"}, **options,
)
sandbox.files.write_text("kept.txt", "as it was")
process = sandbox.exec("sh", "-c", "echo one; while sleep 0.2; do date >> alive; done")
print(sandbox.id, process.id, flush=True)
"""


def make(
    client: Callable[[str], Client], name: str, then: str = "time.sleep(600)", **options: Any
) -> tuple[Client, str, str]:
    """Have another process make a sandbox; return it, the sandbox's id, and a program's."""
    maker = client(f"NAME, OPTIONS = {name!r}, {options!r}\n{MAKER}{then}\n")
    sandbox_id, process_id = maker.line().split()
    return maker, sandbox_id, process_id


def create(**options: Any) -> Sandbox:
    """Make a small detached sandbox in this process."""
    return Sandbox.create(
        backend="kubernetes", limits={"memory": "128m"}, on_exit="keep", **options
    )


def command(*words: str) -> subprocess.CompletedProcess[str]:
    """Run `llm-sandbox` to its end."""
    return subprocess.run(
        [sys.executable, "-m", "llm_sandbox", *words],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def phase(pods: Pods, registry: Registry, sandbox_id: str) -> str | None:
    """The phase of a sandbox's pod; None if it is gone."""
    pod = pods.find(str(registry.record(sandbox_id)["machine"]))
    return None if pod is None else str(pod["status"]["phase"])


@pytest.mark.parametrize("ends", ["exits", "is killed"])
def test_another_process_finds_all_of_it(
    client: Callable[[str], Client], registry: Registry, pods: Pods, ends: str
) -> None:
    """Files, variables, and a program that runs on, whether the creator exits or is killed."""
    name = f"whole-{ends.replace(' ', '-')}"
    maker, sandbox_id, process_id = make(
        client, name, "sandbox.detach()" if ends == "exits" else "time.sleep(600)"
    )
    if ends == "is killed":
        maker.process.send_signal(signal.SIGKILL)
    maker.process.wait()
    assert registry.daemons() == {}

    with Sandbox.from_name(name) as sandbox:
        assert sandbox.id == sandbox_id
        assert sandbox.files.read_text("kept.txt") == "as it was"
        said = sandbox.check("sh", "-c", "echo $GREETING $TOKEN; pwd").stdout
        assert said == f"hello s3cr3t-value\n{sandbox.workdir}\n"
        assert [one.id for one in sandbox.processes()] == [process_id]
        running = sandbox.process(process_id)
        assert next(running.stdout.lines()) == "one"
        assert until(lambda: sandbox.files.exists("alive"))
        before = len(sandbox.files.read_text("alive").splitlines())
        assert until(lambda: len(sandbox.files.read_text("alive").splitlines()) > before)
        assert running.poll() is None
    # That handle has let go of it.
    assert until(lambda: phase(pods, registry, sandbox_id) == "Running")

    again = Sandbox.attach(sandbox_id)
    pod = str(registry.record(sandbox_id)["machine"])
    again.terminate()
    assert (again.poll(), again.end_reason) == (137, "terminated")
    assert until(lambda: pods.find(pod) is None)
    with pytest.raises(SandboxNotFoundError) as caught:
        Sandbox.from_name(name)
    assert (caught.value.end_reason, caught.value.exit_code) == ("terminated", 137)
    again.destroy()


def test_two_clients_at_a_time(client: Callable[[str], Client], registry: Registry) -> None:
    """Two processes use one pod at the same time, and each sees what the other one does."""
    maker, sandbox_id, process_id = make(
        client, "two", "print(sandbox.check('cat', input()).stdout); time.sleep(600)"
    )
    sandbox = Sandbox.attach(sandbox_id)
    sandbox.files.write_text("from-here", "a word")
    maker.say("from-here")
    assert maker.line() == "a word"
    sandbox.set_tags({"team": "a"})
    with Sandbox.from_name("two") as third:
        assert dict(third.tags) == {"team": "a"}
        assert third.process(process_id).kill()
        assert sandbox.process(process_id).wait(30) == 137
    maker.kill()
    assert sandbox.check("echo", "still").stdout == "still\n"
    sandbox.destroy()


def test_one_client_more_than_it_serves_is_refused(registry: Registry) -> None:
    """The refusal says why, and there is room again when another one has left."""
    sandbox = create(name="crowded")
    handles = [sandbox] + [Sandbox.from_name("crowded") for _ in range(MOST_CLIENTS - 1)]
    with pytest.raises(BackendUnavailableError) as caught:
        Sandbox.from_name("crowded")
    assert f"{MOST_CLIENTS} clients" in caught.value.message
    handles.pop().detach()

    def attach() -> bool:
        with contextlib.suppress(BackendUnavailableError):
            handles.append(Sandbox.from_name("crowded"))
        return len(handles) == MOST_CLIENTS

    assert until(attach)
    assert handles[-1].check("echo", "room").stdout == "room\n"
    for handle in handles[1:]:
        handle.detach()
    sandbox.destroy()


def test_more_output_than_is_kept(registry: Registry) -> None:
    """A client that is there gets all output, and a later one a note for what is missing."""
    size = 9_500_000
    sandbox = create(name="output")
    process = sandbox.exec("sh", "-c", f"head -c {size} /dev/zero | tr '\\0' x; echo end")
    told = process.collect().stdout
    assert (len(told), told[-4:]) == (size + 4, "end\n")
    with Sandbox.from_name("output") as later:
        told = later.process(process.id).collect().stdout
        assert told.startswith("x" * 1000)
        assert told.endswith("xend\n")
        assert "bytes were not kept]" in told
    sandbox.destroy()


def test_a_cut_stream_goes_on(
    through_proxy: KubernetesBackend, proxy: ApiProxy, registry: Registry
) -> None:
    """A cut loses no byte, neither of the creator's stream nor of one of a later handle."""
    sandbox = Sandbox.create(
        backend=through_proxy, name="cut", on_exit="keep", limits={"memory": "128m"}
    )
    process = sandbox.exec("sh", "-c", "read go; seq 20000", stdin=PIPE)
    other = Sandbox.from_name("cut")
    follower = other.process(process.id)
    proxy.cut_all()
    assert process.stdin is not None
    process.stdin.write("go\n")
    expected = "".join(f"{number}\n" for number in range(1, 20001))
    assert process.collect().stdout == expected
    assert follower.collect().stdout == expected
    other.detach()
    sandbox.destroy()


def test_the_entry_ends_it(registry: Registry, pods: Pods) -> None:
    """The exit code of the entry is told after its pod has ended, to who was away."""
    code = "import sys; print('heard', input()); sys.exit(3)"
    sandbox = Sandbox.create(
        "python3", "-c", code, backend="kubernetes", on_exit="keep", name="entry"
    )
    other = Sandbox.from_name("entry")
    assert other.entry is not None
    assert other.entry.stdin is not None
    assert sandbox.entry is not None
    other.entry.stdin.write("a word\n")
    assert sandbox.entry.stdout.read() == "heard a word\n"
    assert until(lambda: sandbox.poll() == 3)
    assert (other.wait(), other.end_reason) == (3, "exited")
    other.destroy()
    sandbox.destroy()
    with pytest.raises(SandboxNotFoundError) as caught:
        Sandbox.from_name("entry")
    assert (caught.value.end_reason, caught.value.exit_code) == ("exited", 3)


@pytest.mark.parametrize(
    ("options", "reason"), [({"timeout": 20}, "deadline"), ({"idle_timeout": 4}, "idle")]
)
def test_it_ends_in_time_without_a_client(
    registry: Registry, pods: Pods, options: dict[str, Any], reason: str
) -> None:
    """Nobody is connected, and the pod ends at its deadline, or after the time without activity."""
    sandbox = create(name=reason, **options)
    sandbox_id = sandbox.id
    sandbox.detach()
    assert until(lambda: phase(pods, registry, sandbox_id) == "Running")
    assert until(lambda: phase(pods, registry, sandbox_id) == "Succeeded")
    pod = str(registry.record(sandbox_id)["machine"])
    with pytest.raises(SandboxNotFoundError) as caught:
        Sandbox.from_name(reason)
    assert (caught.value.end_reason, caught.value.exit_code) == (reason, 124)
    assert until(lambda: pods.find(pod) is None)


def test_a_program_and_a_later_deadline_keep_it(registry: Registry) -> None:
    """The control of the idle timeout: a program that runs is activity, also without a client."""
    sandbox = create(name="busy", idle_timeout=4, timeout=6)
    process = sandbox.exec("sh", "-c", "for n in 1 2 3 4 5 6 7 8 9; do sleep 1; done; echo done")
    sandbox.set_timeout(300)
    sandbox.detach()
    again = Sandbox.from_name("busy")
    assert again.process(process.id).collect().stdout == "done\n"
    assert until(lambda: again.end_reason == "idle")
    again.destroy()


@pytest.mark.parametrize("ends", ["exits", "is killed"])
def test_a_creator_that_keeps_nothing_takes_it_along(
    client: Callable[[str], Client], registry: Registry, pods: Pods, ends: str
) -> None:
    """With a name, and without on_exit='keep', it ends with the process that created it."""
    maker, sandbox_id, _ = make(client, "mine", "input()", on_exit="destroy")
    pod = str(registry.record(sandbox_id)["machine"])
    with Sandbox.from_name("mine") as sandbox:
        assert sandbox.id == sandbox_id
    if ends == "exits":
        maker.say("")
        maker.process.wait()
    else:
        maker.kill()
    assert until(lambda: (found := pods.find(pod)) is None or phase_of(found) == "Succeeded")
    with pytest.raises(SandboxNotFoundError):
        Sandbox.from_name("mine")


def phase_of(pod: dict[str, Any]) -> str:
    return str(pod["status"]["phase"])


def test_names(registry: Registry) -> None:
    """A name is unique among living sandboxes; an unknown one is told with what to do."""
    sandbox = create(name="taken")
    with pytest.raises(NameInUseError):
        create(name="taken")
    sandbox.destroy()
    create(name="taken").destroy()
    with pytest.raises(SandboxNotFoundError) as caught:
        Sandbox.from_name("never-made")
    assert "never-made" in caught.value.message
    assert caught.value.hint


def test_the_commands(registry: Registry, pods: Pods) -> None:
    """`ps`, `exec`, `gc` and `stop` know a pod; `gc` never removes one that runs."""
    sandbox = create(name="command", tags={"team": "a"})
    sandbox_id, pod = sandbox.id, str(registry.record(sandbox.id)["machine"])
    sandbox.detach()
    shown = json.loads(command("ps", "--json").stdout)["kept"]
    assert [(one["id"], one["name"], one["backend"]) for one in shown] == [
        (sandbox_id, "command", "kubernetes")
    ]
    assert command("exec", "command", "--", "echo", "inside").stdout == "inside\n"
    assert command("gc").returncode == 0
    assert command("kubernetes", "gc").returncode == 0
    assert until(lambda: phase(pods, registry, sandbox_id) == "Running")
    listed = {one.name: one for one in KubernetesBackend().inventory.resources()}
    assert "detached" in KubernetesBackend().inventory.decide([listed[pod]])[0].why

    # The control: one that has ended is removed, with its record.
    with Sandbox.attach(sandbox_id) as sandbox:
        sandbox.set_timeout(4)
    assert until(lambda: phase(pods, registry, sandbox_id) == "Succeeded")
    assert command("gc").returncode == 0
    assert until(lambda: pods.find(pod) is None)
    assert json.loads(command("ps", "--json").stdout)["kept"] == []
    assert registry.files() == []

    other = create(name="stopped")
    other_pod = str(registry.record(other.id)["machine"])
    other.detach()
    assert command("stop", "stopped").returncode == 0
    assert until(lambda: pods.find(other_pod) is None)


def test_a_deleted_pod_is_told(registry: Registry, pods: Pods) -> None:
    """A pod that somebody deletes is gone for the handle, and for those that come later."""
    sandbox = create(name="deleted")
    pods.delete(str(registry.record(sandbox.id)["machine"]))
    assert until(lambda: sandbox.poll() == 137)
    assert sandbox.end_reason == "gone"
    with pytest.raises(SandboxNotFoundError) as caught:
        Sandbox.from_name("deleted")
    assert caught.value.end_reason == "gone"
    sandbox.destroy()


@pytest.fixture
def kept(registry: Registry) -> Iterator[tuple[Sandbox, dict[str, Any], bytes]]:
    """A sandbox, its record, and its key."""
    sandbox = create(name="guarded")
    key = (registry.folder / f"{sandbox.id}.key").read_bytes()
    yield sandbox, registry.record(sandbox.id), key
    sandbox.destroy()


def test_files_of_the_registry_are_private(
    kept: tuple[Sandbox, dict[str, Any], bytes], registry: Registry
) -> None:
    """The key is readable by its user alone, and no secret is in the record."""
    sandbox, record, key = kept
    assert (registry.folder / f"{sandbox.id}.key").stat().st_mode & 0o777 == 0o600
    assert registry.folder.stat().st_mode & 0o777 == 0o700
    assert key.hex() not in json.dumps(record)


@pytest.mark.redteam
def test_a_wrong_key_is_refused(kept: tuple[Sandbox, dict[str, Any], bytes]) -> None:
    """Whoever may execute programs in the pod, and does not have the key, is no client."""
    sandbox, record, key = kept
    keeper = get_backend("kubernetes").keeper
    assert keeper is not None
    with pytest.raises(SecurityError):
        keeper.connect(record["place"], os.urandom(KEY_SIZE))
    link = keeper.connect(record["place"], key[:KEY_SIZE])  # the control
    assert link.words is not None
    link.close()
    assert sandbox.check("echo", "unharmed").stdout == "unharmed\n"


@pytest.mark.redteam
def test_a_client_that_proves_nothing_is_hung_up_on(
    kept: tuple[Sandbox, dict[str, Any], bytes], pods: Pods
) -> None:
    """One that ignores whether the pod knows its key gets no further."""
    _, record, key = kept

    def attempt(used: bytes) -> int:
        stream = ExecStream(
            pods.cluster,
            pods.namespace,
            record["place"]["pod"],
            record["place"]["container"],
            list(KubernetesBackend().relay),
            None,
        )
        framed = FramedConnection(stream)
        try:
            deadline = time.monotonic() + 20
            own = os.urandom(KEY_SIZE)
            framed.send(OPEN, os.urandom(KEY_SIZE) + own)
            theirs = framed.expect(CHALLENGE, 2 * KEY_SIZE, deadline)[:KEY_SIZE]
            framed.send(PROOF, hmac.digest(used, b"client" + theirs + own, "sha256") + bytes(8))
            framed.expect(WELCOME, 8, deadline)
        finally:
            stream.close()
        return WELCOME

    with pytest.raises((LinkError, OSError)):
        attempt(os.urandom(KEY_SIZE))
    assert attempt(key[:KEY_SIZE]) == WELCOME  # the control


@pytest.mark.redteam
def test_a_pod_that_describes_itself_otherwise_is_refused(
    kept: tuple[Sandbox, dict[str, Any], bytes], registry: Registry
) -> None:
    """A description from inside is read only if the creator has written it."""
    sandbox, _, key = kept
    path = registry.folder / f"{sandbox.id}.key"
    path.write_bytes(key[:KEY_SIZE] + os.urandom(KEY_SIZE))
    with pytest.raises(SecurityError):
        Sandbox.attach(sandbox.id)
    path.write_bytes(key)
    Sandbox.attach(sandbox.id).detach()  # the control


ATTACH = """
import os, sys
from llm_sandbox import Sandbox
from llm_sandbox.sandbox.detached import self_kept, start  # before it may not read them any more
user = int(sys.argv[1])
if user:
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
print(Sandbox.from_name("guarded").id)
"""


@pytest.mark.redteam
@pytest.mark.root
def test_another_user_of_the_computer_cannot_attach(
    kept: tuple[Sandbox, dict[str, Any], bytes], registry: Registry
) -> None:
    """An ordinary user finds neither the registry of another one, nor the sandbox in its own."""
    sandbox, _, _ = kept

    def attach(user: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", ATTACH, str(user)],
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )

    refused = attach(65534)
    assert refused.returncode != 0
    assert "BackendUnavailableError" in refused.stderr or "SecurityError" in refused.stderr
    assert attach(0).stdout == f"{sandbox.id}\n"  # the control


def test_another_cluster_is_refused(
    kept: tuple[Sandbox, dict[str, Any], bytes], registry: Registry
) -> None:
    """A process whose kubeconfig has another cluster is told so, and the record stays."""
    sandbox, record, key = kept
    keeper = get_backend("kubernetes").keeper
    assert keeper is not None
    elsewhere = {**record["place"], "server": "https://192.0.2.1:6443"}
    with pytest.raises(BackendUnavailableError) as caught:
        keeper.connect(elsewhere, key[:KEY_SIZE])
    assert caught.value.hint is not None
    assert "KUBECONFIG" in caught.value.hint
    Sandbox.attach(sandbox.id).detach()  # the control


def test_sessions_have_a_daemon(registry: Registry) -> None:
    """A detached session lives by a daemon of this computer, as on any backend."""
    from llm_sandbox import attach_session, create_session

    with create_session(
        backend="kubernetes", name="analysis", on_exit="keep", limits={"memory": "256m"}
    ) as session:
        session.run("x = 41")
    assert len(registry.daemons()) == 1
    with attach_session("analysis") as session:
        assert session.run("print(x + 1)").stdout == "42\n"
    attach_session("analysis").close()


def test_options_of_pods_are_those_of_its_creator(registry: Registry) -> None:
    """Options that another process does not give come back with the sandbox."""
    backend = KubernetesBackend(
        PodOptions(pod_manifest={"metadata": {"labels": {"team": "a"}}}, orphan_after=30)
    )
    sandbox = Sandbox.create(
        backend=backend, name="options", on_exit="keep", limits={"memory": "128m"}
    )
    sandbox.detach()
    again = Sandbox.from_name("options")
    assert again.limits.memory_bytes == 128 << 20
    assert again.check("echo", "same").stdout == "same\n"
    again.destroy()
