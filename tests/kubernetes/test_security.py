"""Attacks from inside of a pod, and what its manifest gives away."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import Sandbox
from llm_sandbox.backends.base import MachineSpec
from llm_sandbox.backends.kubernetes.backend import KubernetesBackend
from llm_sandbox.backends.kubernetes.manifest import plan_pod
from llm_sandbox.backends.kubernetes.options import PodOptions
from llm_sandbox.backends.kubernetes.unsafe_fields import UNSAFE_FIELDS
from llm_sandbox.exceptions import SecurityError, UnsupportedError, ValidationError
from llm_sandbox.limits import Limits
from tests.kubernetes.api_proxy import ApiProxy, answer
from tests.kubernetes.conftest import a_namespace
from tests.plugins import cluster

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from llm_sandbox.backends.kubernetes.pods import Pods

# --- manifests, without a cluster


def manifest(options: PodOptions | None = None, **machine: Any) -> Mapping[str, Any]:
    """Return the manifest of a pod."""
    plan = plan_pod(
        MachineSpec(**machine),
        options or PodOptions(),
        image="image",
        command=["supervisor"],
        runtime=["python3"],
        version=(1, 35),
        labels={},
        annotations={},
    )
    return plan.manifest


def breaches(pod: Mapping[str, Any]) -> list[str]:
    """Return what Pod Security ``restricted``, as published, refuses in a pod."""
    spec = pod["spec"]
    containers = [*spec["containers"], *spec.get("initContainers", ())]
    found = [name for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name)]
    volumes = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "name"}
    volumes |= {"persistentVolumeClaim", "projected", "secret"}
    found += [f"volume {volume['name']}" for volume in spec["volumes"] if set(volume) - volumes]
    whole = spec["securityContext"]
    if whole.get("seccompProfile", {}).get("type") not in ("RuntimeDefault", "Localhost"):
        found.append("seccomp")
    if whole.get("runAsNonRoot") is not True or whole.get("runAsUser") == 0:
        found.append("root")
    for container in containers:
        own = container["securityContext"]
        capabilities = own.get("capabilities", {})
        if own.get("privileged") or own.get("allowPrivilegeEscalation") is not False:
            found.append("privileges")
        if capabilities.get("drop") != ["ALL"] or set(capabilities.get("add", ())) - {
            "NET_BIND_SERVICE"
        }:
            found.append("capabilities")
        if own.get("procMount", "Default") != "Default" or own.get("runAsUser") == 0:
            found.append("container")
        if any(port.get("hostPort") for port in container.get("ports", ())):
            found.append("hostPort")
    return found


@pytest.mark.parametrize("options", [PodOptions(), PodOptions(runtime_image="runtime:1")])
@pytest.mark.parametrize("network", ["blocked", "open"])
def test_a_pod_keeps_to_the_restricted_profile(options: PodOptions, network: str) -> None:
    """Pod Security ``restricted`` admits a pod as it stands; the other profile's it would not."""
    pod = manifest(options, network=network, writable_root=False)

    assert [] == breaches(pod)
    assert pod["spec"]["automountServiceAccountToken"] is False
    assert {"root", "capabilities"} <= {*breaches(manifest(PodOptions(profile="baseline")))}


UNSAFE: dict[str, dict[str, Any]] = {
    "hostPath": {"volumes": [{"name": "host", "hostPath": {"path": "/"}}]},
    "hostNetwork": {"hostNetwork": True},
    "hostPID": {"hostPID": True},
    "hostIPC": {"hostIPC": True},
    "shareProcessNamespace": {"shareProcessNamespace": True},
    "serviceAccount": {"serviceAccountName": "admin"},
    "sysctls": {"securityContext": {"sysctls": [{"name": "kernel.shm", "value": "1"}]}},
    "hostUsers": {"hostUsers": True},
    "privileged": {"containers": [{"securityContext": {"privileged": True}}]},
    "capabilities": {"containers": [{"securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}}]},
    "procMount": {"containers": [{"securityContext": {"procMount": "Unmasked"}}]},
    "runAsUser": {"containers": [{"securityContext": {"runAsUser": 0}}]},
    "seccompProfile": {"securityContext": {"seccompProfile": {"type": "Unconfined"}}},
    "volumeDevices": {"containers": [{"volumeDevices": [{"name": "d", "devicePath": "/dev/d"}]}]},
    "hostPort": {"containers": [{}, {"name": "side", "ports": [{"hostPort": 80}]}]},
    "projected": {
        "volumes": [{"name": "t", "projected": {"sources": [{"serviceAccountToken": {}}]}}]
    },
    "ephemeralContainers": {"ephemeralContainers": [{"name": "debugger"}]},
    "allowPrivilegeEscalation": {
        "containers": [{"securityContext": {"allowPrivilegeEscalation": True}}]
    },
    "appArmorProfile": {"securityContext": {"appArmorProfile": {"type": "Unconfined"}}},
    "seLinuxOptions": {"securityContext": {"seLinuxOptions": {"type": "spc_t"}}},
    "windowsOptions": {"securityContext": {"windowsOptions": {"hostProcess": True}}},
}


def test_every_unsafe_field_has_a_case() -> None:
    assert set(UNSAFE) == set(UNSAFE_FIELDS)


@pytest.mark.parametrize("name", sorted(UNSAFE))
def test_an_unsafe_field_is_refused_by_its_name(name: str) -> None:
    """A field that opens a wall is refused, unless it is allowed by name."""
    with pytest.raises(SecurityError, match=name):
        PodOptions(pod_manifest={"spec": UNSAFE[name]})

    allowed = PodOptions(pod_manifest={"spec": UNSAFE[name]}, allow_unsafe=[name])
    assert (name,) == allowed.risks()


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"spec": {"restartPolicy": "Always"}}, "restartPolicy"),
        ({"spec": {"containers": [{"command": ["sleep", "1"]}]}}, "command"),
        ({"metadata": {"name": "mine"}}, "metadata.name"),
    ],
)
def test_a_field_of_ours_is_refused(given: dict[str, Any], named: str) -> None:
    """A field that the sandbox decides itself is refused, and not ignored."""
    with pytest.raises(UnsupportedError, match=named):
        PodOptions(pod_manifest=given)


def test_limits_of_the_manifest_are_those_of_the_whole_pod() -> None:
    """Limits of the caller's container are taken as they are, and others are merged."""
    limits = {"memory": "512Mi", "cpu": "1500m"}
    spec = {"containers": [{"resources": {"limits": limits}, "env": [{"name": "A", "value": "b"}]}]}
    container = manifest(PodOptions(pod_manifest={"spec": spec}))["spec"]["containers"][0]

    assert {"memory": "512Mi", "cpu": "1500m"} == container["resources"]["limits"]
    assert [{"name": "A", "value": "b"}] == container["env"]
    with pytest.raises(ValidationError, match="'much'"):
        manifest(
            PodOptions(
                pod_manifest={"spec": {"containers": [{"resources": {"limits": {"cpu": "much"}}}]}}
            )
        )


# --- attacks on a cluster

ATTACK = """
import json, os, signal, socket
found = {}
for name in ("SIGKILL", "SIGSTOP", "SIGTERM", "SIGABRT"):
    os.kill(1, getattr(signal, name))
for path in ("/proc/1/mem", "/proc/1/environ", "/proc/1/maps", "/proc/1/fd"):
    try:
        os.listdir(path) if path.endswith("fd") else open(path, "rb").read(1)
        found[path] = "read"
    except OSError as error:
        found[path] = type(error).__name__
for path in ("/opt/llm_sandbox/guest/pod.py", "/etc/passwd", "/usr/bin/new"):
    try:
        open(path, "ab").close()
        found[path] = "written"
    except OSError as error:
        found[path] = "refused"
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines())
found["status"] = {name: status[name] for name in ("CapEff", "CapBnd", "NoNewPrivs", "Seccomp")}
found["uid"] = os.getuid()
found["token"] = os.path.exists("/var/run/secrets/kubernetes.io/serviceaccount/token")
found["variables"] = [name for name in os.environ if name.startswith("KUBERNETES")]
print(json.dumps(found))
"""
# A client that does not know the key, and one that replays the first client's part.
INTRUDE = """
import os, socket, struct
lines = []
for number in range(12):
    line = socket.socket(socket.AF_UNIX)
    line.connect("\\0llm-sandbox")
    try:
        line.sendall(struct.pack("<BIQ", 0, 64, 0) + os.urandom(64))
    except BrokenPipeError:
        assert number >= 8  # as many are heard at once
    lines.append(line)
answers = []
for line in lines[:4]:
    line.settimeout(5)
    challenge = line.recv(4096)
    line.sendall(struct.pack("<BIQ", 2, 40, 0) + os.urandom(40))
    answers.append(line.recv(100))
print(len(challenge) > 0, answers)
"""


NONE = "0" * 16
"""A set of capabilities that is empty."""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """Provide a sandbox for attacks that leave it as it was."""
    with Sandbox.create(backend="kubernetes") as made:
        yield made


@pytest.mark.cluster
@pytest.mark.redteam
def test_process_1_and_the_cluster_are_out_of_reach(sandbox: Sandbox) -> None:
    """A program cannot end or read process 1, write to the root, or find credentials."""
    found = json.loads(sandbox.exec("python3", "-c", ATTACK).collect().stdout)

    assert found["uid"] != 0
    assert not found["token"]
    assert [] == found["variables"]
    assert {"CapEff": NONE, "CapBnd": NONE, "NoNewPrivs": "1", "Seccomp": "2"} == found["status"]
    of_process_1 = {name: value for name, value in found.items() if name.startswith("/proc/")}
    assert {"PermissionError"} == set(of_process_1.values())
    others = {name: value for name, value in found.items() if name.startswith("/")}
    assert {"refused"} == {value for name, value in others.items() if name not in of_process_1}
    assert "in\n" == sandbox.sh("echo in").collect().stdout


@pytest.mark.cluster
@pytest.mark.redteam
def test_a_process_of_the_program_is_in_its_reach(sandbox: Sandbox) -> None:
    """Control: what process 1 withstands ends and opens another process of the same user."""
    program = (
        "import os, signal, subprocess, time\n"
        "other = subprocess.Popen(['sleep', '60'])\n"
        "time.sleep(0.2)\n"
        "print(len(open(f'/proc/{other.pid}/environ', 'rb').read()) > 0)\n"
        "os.kill(other.pid, signal.SIGKILL)\n"
        "print(other.wait())\n"
    )

    assert "True\n-9\n" == sandbox.exec("python3", "-c", program).collect().stdout


@pytest.mark.cluster
@pytest.mark.redteam
def test_the_stream_needs_its_key(sandbox: Sandbox) -> None:
    """A program that connects to the socket of process 1 is shown out, and disturbs nobody."""
    found = sandbox.exec("python3", "-c", INTRUDE).collect(timeout=60)

    assert "True [b'', b'', b'', b'']\n" == found.stdout, found.stderr
    assert "in\n" == sandbox.sh("echo in").collect().stdout


# --- the network

LISTEN = (
    "import socket\n"
    "server = socket.create_server(('0.0.0.0', 7000))\n"
    "print('up', flush=True)\n"
    "while True: server.accept()[0].sendall(b'in')\n"
)
REACH = (
    "import socket, sys\n"
    "try: print(socket.create_connection((sys.argv[1], 7000), 3).recv(2))\n"
    "except OSError as error: print('cut off')\n"
)


@pytest.mark.cluster
@pytest.mark.redteam
def test_a_blocked_pod_reaches_no_other(sandbox: Sandbox) -> None:
    """A pod without a network cannot connect to another pod, which an open one can."""
    small = Limits(memory="256m")
    with (
        Sandbox.create(backend="kubernetes", network="open", limits=small) as server,
        Sandbox.create(backend="kubernetes", network="open", limits=small) as client,
    ):
        listening = server.exec("python3", "-c", LISTEN)
        assert next(listening.stdout.lines()) == "up"
        address = server.check("hostname", "-i").stdout.strip()

        assert "b'in'\n" == client.check("python3", "-c", REACH, address).stdout
        assert "cut off\n" == sandbox.check("python3", "-c", REACH, address).stdout
    assert "enforced" == sandbox.isolation.state("network")
    assert "absent" == server.isolation.state("network")


@pytest.mark.slow
@pytest.mark.cluster
@pytest.mark.redteam
def test_a_cluster_without_enforcement_is_refused(pods: Pods, tmp_path: Path) -> None:
    """A sandbox without a network is refused if the policy has no effect, and none is left."""
    with (
        a_namespace(pods, "unenforced") as namespace,
        contextlib.closing(ApiProxy(cluster.connect())) as proxy,
    ):
        # The policy seems to be there, as with a plugin that knows none.
        proxy.refuse = lambda line: answer(200, "OK") if "/networkpolicies" in line else None
        options = PodOptions(kubeconfig=proxy.kubeconfig(tmp_path, namespace))
        backend = KubernetesBackend(options)

        with pytest.raises(UnsupportedError, match="does not enforce NetworkPolicy"):
            Sandbox.create(backend=backend)
        backend.close()
