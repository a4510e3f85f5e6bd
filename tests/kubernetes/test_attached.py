"""`container_id`: working in a pod that somebody else has made."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import Sandbox, __version__, create_session
from llm_sandbox.backends.kubernetes.backend import KubernetesBackend, KubernetesOptions
from llm_sandbox.backends.kubernetes.exec_stream import ExecStream
from llm_sandbox.backends.kubernetes.pods import PROCESS
from llm_sandbox.exceptions import ContainerGoneError, UnsupportedError
from llm_sandbox.kubernetes import SandboxKubernetesSession
from llm_sandbox.testing.suite import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llm_sandbox.backends.kubernetes.pods import Pods
    from tests.kubernetes.api_proxy import ApiProxy

pytestmark = pytest.mark.cluster

CLIENT = """
import sys, time
from llm_sandbox import Sandbox
from llm_sandbox.backends.kubernetes.backend import KubernetesBackend, KubernetesOptions
from llm_sandbox.backends.kubernetes.options import PodOptions
options = KubernetesOptions(container_id=sys.argv[1], pod=PodOptions(orphan_after=20))
sandbox = Sandbox.create(backend=KubernetesBackend(options), workdir="/tmp/killed")
sandbox.exec("sleep", "600")
print("up", flush=True)
time.sleep(600)
"""


@contextlib.contextmanager
def a_pod(pods: Pods, name: str, **security: object) -> Iterator[str]:
    """Make a pod of somebody else, for as long as the block."""
    container = {
        "name": "main",
        "image": f"llm-sandbox/python:{__version__}",
        "command": ["sleep", "infinity"],
        "imagePullPolicy": "IfNotPresent",
        "resources": {"limits": {"memory": "1Gi"}, "requests": {"cpu": "100m"}},
        "securityContext": {"runAsUser": 1234, **security},
    }
    body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [container], "automountServiceAccountToken": False},
    }
    pods.cluster.request("POST", f"/api/v1/namespaces/{pods.namespace}/pods", body)

    def phase() -> str:
        return str((pods.find(name) or {}).get("status", {}).get("phase"))

    try:
        assert eventually(lambda: phase() == "Running", 30)
        yield name
        assert "Running" == phase()
    finally:
        pods.delete(name)


@pytest.fixture(scope="module")
def theirs() -> Iterator[str]:
    """Provide a pod whose user is not root, and in which nothing of ours is."""
    pods = KubernetesBackend().pods
    with a_pod(pods, "theirs") as name:
        yield name


def attach(pod: str) -> KubernetesBackend:
    """Return a backend whose machines are that pod."""
    return KubernetesBackend(KubernetesOptions(container_id=pod))


def inside(pods: Pods, pod: str, command: str) -> str:
    """Return what a shell in the pod says, past our machines."""
    stream = ExecStream(pods.cluster, pods.namespace, pod, "main", ["sh", "-c", command])
    found = b""
    while (more := stream.receive()) is not None:
        found += more
    stream.close()
    return found.decode()


FOLDERS = "ls -a /opt /var/tmp"
SLEEPS = "pgrep -fxc 'sleep 1000'"


def test_code_runs_in_it_and_it_is_left_as_it_was(theirs: str, pods: Pods) -> None:
    """Variables are kept, programs are its user's, and the end takes away all that was brought."""
    before = inside(pods, theirs, FOLDERS)
    held = pods.find(theirs)
    with SandboxKubernetesSession(
        container_id=theirs, kube_namespace=pods.namespace, workdir="/tmp/work"
    ) as session:
        assert session.using_existing_container
        result = session.run("x = 6 * 7\nopen('answer', 'w').write(str(x))\nprint(x)")
        assert "42\n" == result.stdout
        assert "43\n" == session.run("print(x + 1)").stdout
        assert "1234\n" == session.execute_command("id -u").stdout
        session.sandbox.sh("sleep 1000 & setsid sleep 1000 & sleep 1000")
        assert eventually(lambda: "3\n" == inside(pods, theirs, SLEEPS), 10)
        during = inside(pods, theirs, FOLDERS)
        assert theirs == session.sandbox.id
        assert "absent" == session.sandbox.isolation.state("network")
        assert "enforced" == session.sandbox.isolation.state("memory")
    assert during != before  # the control: our code was there
    eventually(lambda: before == inside(pods, theirs, FOLDERS), 10)
    assert before == inside(pods, theirs, FOLDERS)
    assert "0\n" == inside(pods, theirs, SLEEPS)
    assert "42" == inside(pods, theirs, "cat /tmp/work/answer")
    assert held is not None
    found = pods.find(theirs)
    assert found is not None
    assert held["metadata"]["uid"] == found["metadata"]["uid"]


@pytest.mark.cluster(whole=True)
def test_it_outlives_a_cut(
    theirs: str, through_proxy: KubernetesBackend, proxy: ApiProxy, pods: Pods
) -> None:
    """A session in it goes on after each connection was cut, with its variables."""
    options = KubernetesOptions(container_id=theirs, pod=through_proxy.options.pod)
    with create_session(KubernetesBackend(options), workdir="/tmp/cut") as session:
        session.run("x = 1")
        proxy.cut_all()
        assert "1\n" == session.run("print(x)").stdout
    # Its end has passed the proxy.
    assert eventually(lambda: ".llm-sandbox-" not in inside(pods, theirs, FOLDERS), 20)


def test_it_outlives_writing_to_a_relay_that_is_gone(theirs: str, pods: Pods) -> None:
    """The signal of a broken pipe does not end the supervisor, which is no process 1 here."""
    with create_session(attach(theirs), workdir="/tmp/pipe") as session:
        session.run("x = 1")
        assert "" == inside(pods, theirs, "pkill -PIPE -x supervisor || echo none")
        assert "1\n" == session.run("print(x)").stdout
        # The control: its programs have the signal as ever.
        assert session.sandbox.sh("kill -PIPE $$").wait() == 128 + signal.SIGPIPE


@pytest.mark.cluster(whole=True)
def test_a_killed_client_leaves_nothing_in_it(theirs: str, pods: Pods) -> None:
    """Programs of a killed client end, its files go, and the pod stays."""
    assert eventually(lambda: ".llm-sandbox-" not in inside(pods, theirs, FOLDERS), 20)
    program = [sys.executable, "-c", CLIENT, theirs]
    with subprocess.Popen(program, stdout=subprocess.PIPE) as client:
        assert client.stdout is not None
        assert client.stdout.readline() == b"up\n"
        assert ".llm-sandbox-" in inside(pods, theirs, FOLDERS)
        client.send_signal(signal.SIGKILL)

    assert eventually(lambda: ".llm-sandbox-" not in inside(pods, theirs, FOLDERS), 60)
    assert "0\n" == inside(pods, theirs, SLEEPS.replace("1000", "600"))


def test_a_pod_that_is_not_there(pods: Pods, theirs: str) -> None:
    """A missing pod or container is told with what there is, and no pod is made instead."""
    before = own_pods(pods)
    with pytest.raises(ContainerGoneError, match="has no pod 'nonesuch'") as told:
        Sandbox.create(backend=attach("nonesuch"))
    assert f"kubectl get pods -n {pods.namespace}" in str(told.value.hint)
    with pytest.raises(ContainerGoneError, match="has no container 'side'") as told:
        create_session(attach(f"{theirs}/side")).open()
    assert "it has: main" == told.value.hint
    assert own_pods(pods) <= before


def own_pods(pods: Pods) -> set[str]:
    """Return the names of the pods that this process has made."""
    return {
        pod["metadata"]["name"]
        for pod in pods.list_ours()
        if str(os.getpid()) in pod["metadata"]["annotations"].get(PROCESS, "")
    }


def test_a_read_only_one_is_refused(pods: Pods) -> None:
    """A pod that nothing can be copied into is refused, and goes on."""
    with (
        a_pod(pods, "read-only", readOnlyRootFilesystem=True) as name,
        pytest.raises(UnsupportedError, match="none of these can be made: /opt/"),
    ):
        Sandbox.create(backend=attach(name))
