"""Requests besides limits, and graphics processors."""

from pathlib import Path

import pytest

from llm_sandbox import Limits, Sandbox, UnsupportedError, ValidationError
from llm_sandbox.backends.base import MachineSpec
from llm_sandbox.backends.bubblewrap.backend import BubblewrapBackend, describe_isolation
from llm_sandbox.backends.containers.creation.arguments import create_arguments, device_requests
from llm_sandbox.backends.hardening.cgroups import Cgroup, CgroupTree, find_tree
from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.testing.suite import usable_backend

MIB = 1 << 20
ASKED = Limits(cpus=2, cpus_requested=0.5, memory_bytes=256 * MIB, memory_requested_bytes=64 * MIB)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("docker", marks=pytest.mark.engine("docker", image="python")),
        pytest.param("podman", marks=pytest.mark.engine("podman", image="python")),
    ],
)
def test_an_engine_was_told_and_says_so(name):
    """As the engine has it of the container that runs, and as the report says."""
    usable_backend(name)
    with Sandbox.create(backend=name, limits=ASKED) as sandbox:
        container = sandbox._machine.origin.container
        found = get_backend(name).engine.api.inspect_container(container)["HostConfig"]
        assert 512 == found["CpuShares"]
        assert 64 * MIB == found["MemoryReservation"]
        assert 2_000_000_000 in (found["NanoCpus"], found.get("CpuQuota", 0) * 10_000)
        assert "approximated" == sandbox.isolation.state("cpu_request")
        assert "approximated" == sandbox.isolation.state("memory_request")
    with Sandbox.create(backend=name) as sandbox:
        assert "cpu_request" not in sandbox.isolation.controls


def _group_of(sandbox, controller):
    """Return the control group of a program of a sandbox, for one controller."""
    process = sandbox.exec("sleep", "60")
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if b"sleep\x0060\x00" != (entry / "cmdline").read_bytes():
                    continue
                for line in (entry / "cgroup").read_text().splitlines():
                    _, controllers, path = line.split(":", 2)
                    if "llm-sandbox-" in path and controller in (*controllers.split(","), ""):
                        process.kill()
                        return path
            except OSError:
                continue
    raise AssertionError("no program of the sandbox was found")


def test_bubblewrap_writes_them_into_its_control_groups():
    tree = find_tree()
    if tree is None or tree.version != 1:
        pytest.skip("no control groups of version 1 that may be written")
    with Sandbox.create(backend="bubblewrap", limits=ASKED) as sandbox:
        cpu = Path(f"/sys/fs/cgroup/cpu{_group_of(sandbox, 'cpu')}")
        memory = Path(f"/sys/fs/cgroup/memory{_group_of(sandbox, 'memory')}")
        assert "512" == (cpu / "cpu.shares").read_text().strip()
        assert str(64 * MIB) == (memory / "memory.soft_limit_in_bytes").read_text().strip()
        assert "approximated" == sandbox.isolation.state("cpu_request")


def test_version_2_has_other_files(tmp_path):
    """A tree that only looks like one: what is written there is what a kernel would be told."""
    tree = CgroupTree(2, dict.fromkeys(("memory", "pids", "cpu"), tmp_path))
    Cgroup(tree, "owner/one", ASKED)
    group = tmp_path / "owner" / "one"
    # As container engines reckon: 2 to 262144 shares are 1 to 10000 of weight.
    assert "20" == (group / "cpu.weight").read_text()
    assert str(64 * MIB) == (group / "memory.low").read_text()
    Cgroup(tree, "owner/two", Limits())
    assert not (tmp_path / "owner" / "two" / "cpu.weight").exists()
    assert not (tmp_path / "owner" / "two" / "memory.low").exists()


@pytest.mark.root
def test_cpus_without_their_controller_are_refused():
    """As where systemd gives users the controllers of memory and processes alone."""
    backend = BubblewrapBackend()
    whole = find_tree()
    with Sandbox.create(backend=backend, limits=Limits(cpus=1)) as sandbox:
        assert "enforced" == sandbox.isolation.state("cpu")
    backend._tree = CgroupTree(whole.version, {"memory": whole.bases["memory"]})
    with pytest.raises(UnsupportedError, match="cpu controller") as caught:
        Sandbox.create(backend=backend, limits=Limits(cpus=1))
    assert "limits.cpus" == caught.value.feature
    with Sandbox.create(backend=backend, limits=ASKED.replace(cpus=None)) as sandbox:
        found = [sandbox.isolation.state(name) for name in ("memory", "memory_request")]
        assert ["enforced", "approximated"] == found
        assert ["absent", "absent"] == [
            sandbox.isolation.state(name) for name in ("cpu", "cpu_request")
        ]
    backend.close()


def test_what_is_not_held_is_named():
    report = describe_isolation(network="blocked", controllers=(), landlock=0, limits=ASKED)
    for name in ("cpu_request", "memory_request"):
        assert "absent" == report.state(name)
        assert "control group" in report.controls[name].by


@pytest.mark.parametrize("limits", [Limits(cpus_requested=1), Limits(memory_requested_bytes=MIB)])
def test_plain_processes_have_no_shares(limits):
    with pytest.raises(UnsupportedError, match="requested"):
        Sandbox.create(backend="local", limits=limits)


# --- graphics processors

NVIDIA = {"Runtimes": {"runc": {}, "nvidia": {}}}
CDI = {
    "Runtimes": {"runc": {}},
    "DiscoveredDevices": [
        {"Source": "cdi", "ID": f"nvidia.com/gpu={name}"} for name in ("0", "1", "all")
    ]
    + [{"Source": "cdi", "ID": "vendor.com/other=0"}],
}
CAPABLE = [["gpu"]]


@pytest.mark.parametrize(
    ("gpu", "facts", "wanted"),
    [
        ("all", NVIDIA, {"Driver": "nvidia", "Count": -1, "Capabilities": CAPABLE}),
        (2, NVIDIA, {"Driver": "nvidia", "Count": 2, "Capabilities": CAPABLE}),
        ("0, 1", NVIDIA, {"Driver": "nvidia", "DeviceIDs": ["0", "1"], "Capabilities": CAPABLE}),
        ("all", CDI, {"Driver": "cdi", "DeviceIDs": ["nvidia.com/gpu=all"]}),
        (1, CDI, {"Driver": "cdi", "DeviceIDs": ["nvidia.com/gpu=0"]}),
        ("nvidia.com/gpu=1", CDI, {"Driver": "cdi", "DeviceIDs": ["nvidia.com/gpu=1"]}),
    ],
)
def test_what_an_engine_with_devices_is_asked_for(gpu, facts, wanted):
    assert [wanted] == device_requests(gpu, engine="docker", facts=facts)
    spec = MachineSpec(gpu=gpu)
    arguments = create_arguments(spec, ContainerOptions(), facts=facts)
    assert [wanted] == arguments.keywords["device_requests"]
    assert "approximated" == arguments.controls()["devices"].state
    plain = create_arguments(MachineSpec(), ContainerOptions(), facts=facts)
    assert "device_requests" not in plain.keywords
    assert "devices" not in plain.controls()


@pytest.mark.parametrize(("gpu", "said"), [(3, "gpu=all"), ("7", "gpu=0"), ("all,7", "gpu=0")])
def test_devices_that_were_not_found_are_refused_with_those_that_were(gpu, said):
    with pytest.raises(UnsupportedError, match=said):
        device_requests(gpu, engine="docker", facts=CDI)


@pytest.mark.engine("docker", image="python")
def test_the_engine_understands_the_request():
    """Taken as it is, and refused in the engine's own words where there is no driver for it."""
    import docker.errors

    backend = usable_backend("docker")
    if "nvidia" in backend.engine.facts.get("Runtimes", {}):
        pytest.skip("this engine has graphics processors to give")
    requests = device_requests("all", engine="docker", facts=NVIDIA)
    client = backend.engine.client
    image = client.images.list(filters={"reference": "llm-sandbox/python"})[0]
    made = client.containers.create(image.id, ["true"], device_requests=requests)
    try:
        told = client.api.inspect_container(made.id)["HostConfig"]["DeviceRequests"]
        assert [("nvidia", -1, CAPABLE)] == [
            (one["Driver"], one["Count"], one["Capabilities"]) for one in told
        ]
        with pytest.raises(docker.errors.APIError, match="could not select device driver"):
            made.start()
    finally:
        made.remove(force=True)


@pytest.mark.engine("docker", image="python")
def test_an_engine_without_them_refuses_and_says_what_it_found():
    backend = usable_backend("docker")
    if "nvidia" in backend.engine.facts.get("Runtimes", {}):
        pytest.skip("this engine has graphics processors to give")
    with pytest.raises(UnsupportedError, match="no nvidia runtime") as caught:
        Sandbox.create(backend="docker", gpu="all")
    assert "runc" in caught.value.reason
    assert "NVIDIA container toolkit" in caught.value.hint


@pytest.mark.parametrize("name", ["bubblewrap", "local", "podman", "gvisor"])
def test_backends_without_devices_refuse(name):
    if name == "podman":
        usable_backend(name)
    with pytest.raises(UnsupportedError, match="gpu=1"):
        Sandbox.create(backend=name, gpu=1)


@pytest.mark.parametrize("gpu", [0, -1, "", ",", True, 1.5, []])
def test_numbers_of_processors_that_are_none(gpu):
    with pytest.raises(ValidationError) as caught:
        Sandbox.create(backend="bubblewrap", gpu=gpu)
    assert "gpu" == caught.value.parameter
