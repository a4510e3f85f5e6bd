"""`llm-sandbox kubernetes`: a namespace from nothing to its last pod, by the command line."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import Sandbox
from llm_sandbox.backends.kubernetes.backend import KubernetesBackend
from llm_sandbox.backends.kubernetes.options import PodOptions
from llm_sandbox.backends.kubernetes.rights import MESSAGES, NEEDED
from llm_sandbox.exceptions import BackendError
from llm_sandbox.testing.suite import eventually
from tests.plugins import cluster

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from llm_sandbox.backends.kubernetes.pods import Pods
    from tests.kubernetes.api_proxy import ApiProxy

pytestmark = [pytest.mark.slow, pytest.mark.cluster]

ROOT = Path(__file__).resolve().parents[2]
SMALL = {"memory": "128m"}
CLIENT = """
import time
from llm_sandbox import Sandbox
sandbox = Sandbox.create(backend="kubernetes", network="open", limits={"memory": "128m"})
print(sandbox.id, flush=True)
time.sleep(600)
"""


def command(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `llm-sandbox kubernetes` to its end."""
    return subprocess.run(
        [sys.executable, "-m", "llm_sandbox", "kubernetes", *words],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
    )


def kubectl(*words: str, stdin: str = "") -> str:
    """Run kubectl as an administrator, and return its output."""
    beside = Path(os.environ[cluster.KUBECONFIG]).parent / "bin"
    program = shutil.which("kubectl", path=f"{os.environ['PATH']}:{beside}")
    if program is None:
        pytest.skip("kubectl is not installed")
    variables = {**os.environ, "KUBECONFIG": os.environ[cluster.KUBECONFIG]}
    done = subprocess.run(
        [program, *words],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=variables,
    )
    assert 0 == done.returncode, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Provide a namespace that kubectl made of what the command prints, and its user's file."""
    name = f"{KubernetesBackend().pods.namespace}-command"
    written = command("manifests", "--namespace", name, "--pods", "5", "--memory", "32g")
    assert 0 == written.returncode, written.stderr
    applied = kubectl("apply", "-f", "-", stdin=written.stdout)
    assert 6 == applied.count("created\n")
    try:
        yield name, str(cluster.kubeconfig_of(name, tmp_path_factory.mktemp("user")))
    finally:
        kubectl("delete", "namespace", name, "--wait=false")


def test_the_user_has_the_role_and_nothing_beyond_it(prepared: tuple[str, str]) -> None:
    """The server's list of what the user may do is the role, and each attempt beyond it fails."""
    namespace, kubeconfig = prepared
    pods = KubernetesBackend(PodOptions(kubeconfig=kubeconfig)).pods
    assert namespace == pods.namespace
    body = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectRulesReview",
        "spec": {"namespace": namespace},
    }
    path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
    rules = pods.cluster.request("POST", path, body)["status"]["resourceRules"]
    allowed = {
        (verb, resource, tuple(rule.get("resourceNames", ())))
        for rule in rules
        for verb in rule["verbs"]
        for resource in rule["resources"]
        if "authorization.k8s.io" not in rule["apiGroups"]  # what every user may ask about itself
    }
    role = {(one.verb, one.resource, (one.name,) if one.name else ()) for one in NEEDED + MESSAGES}
    assert role == allowed

    inside = f"/api/v1/namespaces/{namespace}"
    for method, refused in (
        ("GET", f"{inside}/secrets"),
        ("GET", f"{inside}/serviceaccounts"),
        ("GET", "/api/v1/nodes"),
        ("GET", "/api/v1/pods"),
        ("DELETE", f"/apis/networking.k8s.io/v1/namespaces/{namespace}/networkpolicies/x"),
        ("DELETE", f"{inside}/resourcequotas/llm-sandbox"),
        ("GET", "/api/v1/namespaces/default/pods"),
    ):
        with pytest.raises(BackendError, match="forbidden"):
            pods.cluster.request(method, refused)
    # Control: the same request is answered where the role allows it.
    assert [] == pods.cluster.request("GET", f"{inside}/pods")["items"]


def test_each_right_of_the_role_is_used(through_proxy: KubernetesBackend, proxy: ApiProxy) -> None:
    """What a sandbox asks the server for is the role: no right is missing, and none is idle."""
    seen: set[tuple[str, str]] = set()

    def note(line: str) -> None:
        verb, path, _ = line.split()
        found = re.search(r"/namespaces/[^/]+/(\w+)(/[^/?]+)?(/\w+)?", path)
        if found is not None:
            kind = f"{found[1]}{found[3] or ''}"
            verbs = {"POST": "create", "DELETE": "delete", "GET": "get" if found[2] else "list"}
            seen.add((verbs[verb], kind))

    proxy.refuse = note
    with Sandbox.create(backend=through_proxy, limits=SMALL) as sandbox:
        assert "in\n" == sandbox.sh("echo in").collect().stdout
    # A pod that does not start, whose events are told.
    options = replace(through_proxy.options.pod, node_selector={"is": "absent"}, start_timeout=1)
    with pytest.raises(BackendError):
        Sandbox.create(backend=KubernetesBackend(options), network="open")

    role = {(one.verb, one.resource) for one in NEEDED + MESSAGES}
    # Servers before 1.31 ask for one verb of `exec`, and later ones for the other. A log is read
    # of a pod whose container has failed.
    assert seen == role - {("create", "pods/exec"), ("get", "pods/log")}


def test_check_says_that_all_is_there(prepared: tuple[str, str]) -> None:
    """With the role, every step is passed, and the exit code is 0."""
    done = command("check", "--json", KUBECONFIG=prepared[1])

    found = json.loads(done.stdout)
    states = {one["what"]: one["state"] for one in found["findings"]}
    assert 0 == done.returncode, done.stdout
    assert found["works"]
    whole = ["cluster", "rights", "admission", "profile", "runtimes", "image", "network"]
    assert whole == list(states)
    # The role lets nobody read the namespace's labels, or what belongs to the whole cluster.
    assert {"profile", "runtimes"} == {what for what, state in states.items() if state != "yes"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--namespace", "default"], r"rights +no .*create pods, delete pods.*\n +somebody who"),
        (["--runtime-class", "absent"], r"admission +no .*\"absent\" not found\n +look: kubectl"),
        pytest.param(
            ["--image", "registry.invalid/absent:1"],
            r"image +no .*registry.invalid.*\n +look: kubectl",
            marks=pytest.mark.cluster(whole=True),
        ),
        pytest.param(
            ["--context", "absent"],
            r"cluster +no +no cluster: .*\n +name a cluster",
            marks=pytest.mark.cluster(whole=True),
        ),
    ],
)
def test_check_says_what_to_type(
    prepared: tuple[str, str], words: list[str], expected: str
) -> None:
    """A step that fails has the cluster's words and the next thing to type, and the exit code 1."""
    done = command("check", *words, KUBECONFIG=prepared[1])

    assert 1 == done.returncode, done.stdout
    assert re.search(expected, done.stdout), done.stdout
    assert not done.stderr


def test_ps_and_gc_know_whose_pods_they_are(prepared: tuple[str, str]) -> None:
    """A pod of this process is listed and stays; that of a killed one is removed while it runs."""
    variables = {"KUBECONFIG": prepared[1]}
    backend = KubernetesBackend(PodOptions(kubeconfig=prepared[1]))
    with Sandbox.create(backend=backend, network="open", limits=SMALL) as ours:
        program = [sys.executable, "-c", CLIENT]
        environment = {**os.environ, **variables}
        with subprocess.Popen(program, stdout=subprocess.PIPE, env=environment) as client:
            assert client.stdout is not None
            theirs = client.stdout.readline().decode().strip()
            listed = command("ps", **variables).stdout
            client.kill()
        assert re.search(rf"{ours.id} .* running .* process {os.getpid()} .* open", listed)
        assert re.search(rf"{theirs} .* running .* process {client.pid} .* open", listed)

        tried = json.loads(command("gc", "--dry-run", "--json", **variables).stdout)["items"]
        told = {one["name"]: (one["removed"], one["why"]) for one in tried}
        assert (False, f"process {os.getpid()} uses it") == told[ours.id]
        assert (True, f"process {client.pid}, which made it, has ended") == told[theirs]
        assert backend.pods.find(theirs) is not None

        removed = command("gc", **variables)
        assert 0 == removed.returncode
        assert re.search(rf"removed +kubernetes +sandbox +{theirs}", removed.stdout)
        assert eventually(lambda: backend.pods.find(theirs) is None, 10)
        assert "in\n" == ours.sh("echo in").collect().stdout
    assert eventually(lambda: "no sandboxes" in command("ps", **variables).stdout, 10)


@pytest.mark.cluster(whole=True)
def test_a_job_of_the_collector_is_admitted(pods: Pods) -> None:
    """The pods of the CronJob are accepted by the server; the CronJob itself is of a newer one."""
    written = command("manifests", "--namespace", pods.namespace, "--gc-image", "reg.test/one:1")
    import yaml

    made = list(yaml.safe_load_all(written.stdout))[-1]
    assert "CronJob" == made["kind"]
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "once", "namespace": pods.namespace},
        "spec": made["spec"]["jobTemplate"]["spec"],
    }
    dry = kubectl("create", "--dry-run=server", "-o", "json", "-f", "-", stdin=json.dumps(job))
    template = json.loads(dry)["spec"]["template"]["spec"]
    assert "llm-sandbox" == template["serviceAccountName"]
    # What it runs is a command that there is.
    words: list[Any] = template["containers"][0]["command"]
    assert ["llm-sandbox", "kubernetes"] == words[:2]
    assert 0 == command(*words[2:], "--dry-run").returncode
