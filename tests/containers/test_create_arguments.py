"""Arguments for an engine: full isolation, and the caller's runtime configs where they are safe."""

from __future__ import annotations

import json
from typing import Any

import pytest
from docker.models.containers import _create_container_args
from docker.types import Mount, Ulimit

from llm_sandbox.backends.base import MachineSpec
from llm_sandbox.backends.containers.creation.arguments import (
    MEMORY_ALLOWANCE,
    PROCESS_ALLOWANCE,
    CreateArguments,
    create_arguments,
)
from llm_sandbox.backends.hardening.seccomp_profile import build_profile
from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.backends.options.unsafe_options import ADDED_CAPABILITIES
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.limits import Limits

MIB = 1 << 20
SPEC = MachineSpec(
    workdir="/work/here",
    limits=Limits(
        memory_bytes=500 * MIB,
        processes=50,
        workdir_bytes=10 * MIB,
        tmp_bytes=20 * MIB,
        shm_bytes=30 * MIB,
        inodes=1000,
    ),
)
OURS = {"llm-sandbox": "1", "llm-sandbox.owner": "me"}


def made(
    configs: dict[str, Any] | None = None,
    *,
    spec: MachineSpec = SPEC,
    mounts: tuple[Any, ...] = (),
    allow_unsafe: tuple[str, ...] = (),
    **others: Any,
) -> CreateArguments:
    options = ContainerOptions(
        runtime_configs=configs or {}, mounts=mounts, allow_unsafe=allow_unsafe
    )
    arguments = create_arguments(spec, options, labels=OURS, **others)
    # docker-py itself must understand them, whatever they are.
    _create_container_args({"image": "i", "command": None, "version": "1.41", **arguments.keywords})
    return arguments


def state(arguments: CreateArguments, resource: str) -> str:
    return arguments.controls()[resource].state


# --- without anything asked for


def test_every_wall_is_up() -> None:
    arguments = made()
    told = arguments.keywords
    assert "none" == told["network_mode"]
    assert "private" == told["ipc_mode"]
    assert ["ALL"] == told["cap_drop"]
    assert list(ADDED_CAPABILITIES) == told["cap_add"]
    assert told["read_only"] is True
    assert "0:0" == told["user"]
    assert [] == told["entrypoint"]
    assert "65532:65532" == arguments.user
    assert told["auto_remove"]
    assert told["stdin_open"]
    assert not told["tty"]
    assert told["init"] is False
    assert {} == told["environment"]
    assert OURS == told["labels"]
    assert {"type": "none", "config": {}} == told["log_config"]
    assert [] == told["volumes"] == told["mounts"]
    assert not {"privileged", "devices", "ports", "nano_cpus", "shm_size"} & told.keys()
    first, second = told["security_opt"]
    assert "no-new-privileges:true" == first
    assert build_profile() == json.loads(second.removeprefix("seccomp="))


def test_limits_are_the_codes_and_an_allowance_for_what_is_ours() -> None:
    told = made().keywords
    assert 500 * MIB + MEMORY_ALLOWANCE == told["mem_limit"] == told["memswap_limit"]
    assert 50 + PROCESS_ALLOWANCE == told["pids_limit"]
    limits = {entry["Name"]: entry["Hard"] for entry in told["ulimits"]}
    assert {"nofile": 4096, "core": 0, "memlock": 65536} == limits


def test_many_open_files_are_allowed_when_they_are_asked_for() -> None:
    told = made(spec=MachineSpec(limits=Limits(open_files=9000))).keywords
    assert {"Name": "nofile", "Soft": 9000, "Hard": 9000} in told["ulimits"]


def test_file_systems_are_sized_and_the_users() -> None:
    assert {
        "/work/here": "rw,nosuid,nodev,exec,size=10485760,nr_inodes=1000,"
        "uid=65532,gid=65532,mode=0755",
        "/tmp": "rw,nosuid,nodev,exec,size=20971520,nr_inodes=1000,mode=1777",
        "/dev/shm": "rw,nosuid,nodev,exec,size=31457280,nr_inodes=1000,mode=1777",
    } == made().keywords["tmpfs"]


def test_podman_is_told_what_it_knows() -> None:
    arguments = made(engine="podman")
    for options in arguments.keywords["tmpfs"].values():
        assert "nr_inodes" not in options
        assert "uid=" not in options
        assert options.endswith(",notmpcopyup")
    assert "mode=0777" in arguments.keywords["tmpfs"]["/work/here"]
    assert "nproc" in [entry["Name"] for entry in arguments.keywords["ulimits"]]
    assert "approximated" == state(arguments, "disk")


def test_the_report_of_a_plain_container() -> None:
    controls = made().controls()
    assert {name for name, control in controls.items() if control.state != "enforced"} == {"cpu"}


def test_a_limit_that_the_kernel_lacks_is_not_claimed() -> None:
    facts = {"MemoryLimit": False, "PidsLimit": False, "CpuCfsQuota": False}
    arguments = made({"cpus": 1}, facts=facts)
    assert {"absent"} == {state(arguments, name) for name in ("memory", "process_count", "cpu")}
    facts = {"MemoryLimit": True, "PidsLimit": True, "CpuCfsQuota": True}
    arguments = made({"cpus": 1}, facts=facts)
    assert {"enforced"} == {state(arguments, name) for name in ("memory", "process_count", "cpu")}


def test_what_is_made_once_is_made_again_the_same() -> None:
    options = ContainerOptions(runtime_configs={"tmpfs": {"/x": ""}, "ulimits": [{"Name": "cpu"}]})
    first = create_arguments(SPEC, options)
    first.keywords["tmpfs"]["/y"] = ""
    first.keywords["ulimits"].clear()
    assert "/y" not in create_arguments(SPEC, options).keywords["tmpfs"]
    assert create_arguments(SPEC, options).keywords["ulimits"]


# --- runtime configs


def test_a_memory_limit_is_the_whole_containers() -> None:
    arguments = made({"mem_limit": "2g"})
    assert 2048 * MIB == arguments.keywords["mem_limit"] == arguments.keywords["memswap_limit"]
    assert 2048 * MIB == arguments.spec.limits.memory_bytes
    assert 2048 * MIB == arguments.effective.memory_bytes
    swapping = made({"mem_limit": 1024 * MIB, "memswap_limit": -1}).keywords
    assert -1 == swapping["memswap_limit"]


@pytest.mark.parametrize("value", ["lots", True, "1x"])
def test_a_memory_limit_that_is_none_is_refused(value: object) -> None:
    with pytest.raises(ValidationError):
        made({"mem_limit": value})


def test_no_limit_is_told_truthfully() -> None:
    arguments = made({"mem_limit": -1, "pids_limit": -1}, allow_unsafe=("mem_limit", "pids_limit"))
    assert "mem_limit" not in arguments.keywords
    assert -1 == arguments.keywords["pids_limit"]
    assert "absent" == state(arguments, "memory") == state(arguments, "process_count")
    assert arguments.spec.limits.memory_bytes > 1 << 40


def test_a_process_limit_is_the_whole_containers() -> None:
    arguments = made({"pids_limit": 70})
    assert 70 == arguments.keywords["pids_limit"] == arguments.spec.limits.processes


@pytest.mark.parametrize(
    ("configs", "cpus", "told"),
    [
        ({"cpus": 1.5}, 1.5, {"nano_cpus": 1_500_000_000}),
        ({"cpu_count": 2}, 2.0, {"nano_cpus": 2_000_000_000}),
        ({"nano_cpus": 500_000_000}, 0.5, {"nano_cpus": 500_000_000}),
        ({"cpu_quota": 50_000}, 0.5, {"cpu_quota": 50_000}),
        ({"cpu_quota": 50_000, "cpu_period": 25_000}, 2.0, {"cpu_period": 25_000}),
    ],
)
def test_processor_time(configs: dict[str, Any], cpus: float, told: dict[str, int]) -> None:
    arguments = made(configs)
    assert cpus == pytest.approx(arguments.effective.cpus)
    assert told.items() <= arguments.keywords.items()
    assert not {"nano_cpus", "cpu_quota"} <= arguments.keywords.keys()
    assert "enforced" == state(arguments, "cpu")


@pytest.mark.parametrize(
    ("configs", "asked", "name", "open_"),
    [
        ({}, "open", "bridge", "open"),
        ({"network_mode": "none"}, "open", "none", "blocked"),
        ({"network": "none"}, "open", "none", "blocked"),
        ({"network_disabled": True}, "open", "none", "blocked"),
        ({"network_mode": "bridge"}, "blocked", "bridge", "open"),
        ({"network": "mine"}, "blocked", "mine", "open"),
    ],
)
def test_the_network(configs: dict[str, Any], asked: Any, name: str, open_: str) -> None:
    arguments = made(configs, spec=MachineSpec(network=asked))
    told = arguments.keywords
    assert name == told.get("network", told.get("network_mode"))
    assert ("network" in told) == (name == "mine")
    assert open_ == arguments.spec.network == arguments.effective.network
    assert ("enforced" if open_ == "blocked" else "absent") == state(arguments, "network")


@pytest.mark.parametrize("name", ["ports", "publish_all_ports", "links"])
def test_ports_need_a_network(name: str) -> None:
    configs = {name: {"80/tcp": 8080} if name != "publish_all_ports" else True}
    with pytest.raises(ValidationError, match=name) as caught:
        made(configs)
    assert "network='open'" in str(caught.value.hint)
    opened = made(configs, spec=MachineSpec(network="open"))
    assert configs[name] == opened.keywords[name]


@pytest.mark.parametrize(
    ("configs", "mounts"),
    [
        ({"volumes": {"results": {"bind": "/work/here", "mode": "rw"}}}, ()),
        ({"volumes": ["results:/work/here/"]}, ()),
        ({"mounts": [Mount("/work/here", "results")]}, ()),
        ({}, ("results:/work/here",)),
    ],
)
def test_a_mount_on_the_workdir_takes_the_place_of_ours(
    configs: dict[str, Any], mounts: tuple[Any, ...]
) -> None:
    arguments = made(configs, mounts=mounts)
    assert {"/tmp", "/dev/shm"} == arguments.keywords["tmpfs"].keys()
    assert arguments.effective.workdir_bytes is None
    assert ("/work/here",) == arguments.writable
    assert "approximated" == state(arguments, "disk")
    assert "approximated" == state(arguments, "files")


def test_a_read_only_mount_is_neither_writable_nor_unlimited() -> None:
    arguments = made(mounts=("results:/data:ro",))
    assert () == arguments.writable
    assert "enforced" == state(arguments, "disk")
    mount = {"Target": "/data", "Source": "results", "Type": "volume", "ReadOnly": True}
    assert [mount] == arguments.keywords["mounts"]


def test_file_systems_in_memory_of_the_callers() -> None:
    arguments = made({"tmpfs": {"/tmp/": "size=1m", "/scratch": ""}})
    assert "size=1m" == arguments.keywords["tmpfs"]["/tmp"]
    assert MIB == arguments.effective.tmp_bytes
    assert "/scratch" in arguments.writable
    assert "/scratch" in arguments.controls()["disk"].by


def test_volumes_of_both_forms_come_beside_ours() -> None:
    guest = {"guest": {"bind": "/opt/llm_sandbox", "mode": "ro"}}
    told = made({"volumes": {"a": {"bind": "/a", "mode": "ro"}, "b": "/b"}}, volumes=guest).keywords
    assert ["a:/a:ro", "b:/b:rw", "guest:/opt/llm_sandbox:ro"] == told["volumes"]
    told = made({"volumes": ["a:/a"]}, volumes=guest).keywords
    assert ["a:/a", "guest:/opt/llm_sandbox:ro"] == told["volumes"]


def test_volumes_of_the_image_have_a_size() -> None:
    arguments = made({"tmpfs": {"/cache": ""}}, image_volumes=["/data", "/cache", "/tmp"])
    told = arguments.keywords["tmpfs"]
    assert told["/data"] == told["/tmp"]
    assert "" == told["/cache"]
    assert {"/data", "/cache", "/tmp"} == set(arguments.writable)


def test_shared_memory_by_the_engine_and_by_us() -> None:
    arguments = made({"shm_size": "100m"})
    assert "size=104857600" in arguments.keywords["tmpfs"]["/dev/shm"]
    assert 100 * MIB == arguments.effective.shm_bytes
    arguments = made({"ipc_mode": "shareable"})
    assert "/dev/shm" not in arguments.keywords["tmpfs"]
    assert 30 * MIB == arguments.keywords["shm_size"]


def test_ulimits_are_merged_by_name() -> None:
    given = [Ulimit(name="nofile", soft=64, hard=128), {"name": "stack", "soft": 1, "hard": 2}]
    arguments = made({"ulimits": given})
    names = [str(entry.get("Name", entry.get("name"))) for entry in arguments.keywords["ulimits"]]
    assert ["core", "memlock", "nofile", "stack"] == sorted(names)
    assert {"NOFILE": 128, "STACK": 2} == arguments.rlimits


def test_labels_are_merged_and_ours_stay() -> None:
    told = made({"labels": {"team": "x"}}).keywords
    assert {"team": "x", **OURS} == told["labels"]
    assert {"team": "x", **OURS} == made({"labels": ["team=x"]}).keywords["labels"]


@pytest.mark.parametrize(
    ("user", "owner"),
    [
        ("1000:1001", "uid=1000,gid=1001,mode=0755"),
        ("1000", "uid=1000,mode=0755"),
        (1000, "uid=1000,mode=0755"),
        ("nobody", "mode=0777"),
        ("nobody:nogroup", "mode=0777"),
    ],
)
def test_the_user_is_the_codes_and_not_process_1s(user: object, owner: str) -> None:
    arguments = made({"user": user})
    assert str(user) == arguments.user
    assert "0:0" == arguments.keywords["user"]
    assert arguments.keywords["tmpfs"]["/work/here"].endswith(f"nr_inodes=1000,{owner}")


def test_permissions_that_process_1_sets() -> None:
    assert {"/tmp": 0o1777, "/dev/shm": 0o1777} == made().modes
    assert 0o777 == made({"user": "nobody"}).modes["/work/here"]
    assert 0o777 == made(engine="podman").modes["/work/here"]
    # A folder of the caller's keeps its own.
    arguments = made({"user": "nobody"}, mounts=("results:/work/here",))
    assert {"/tmp", "/dev/shm"} == arguments.modes.keys()


def test_security_options_are_merged() -> None:
    given = ["label=type:container_t", 'seccomp={"defaultAction":"SCMP_ACT_ALLOW"}']
    arguments = made({"security_opt": given})
    assert [
        "no-new-privileges:true",
        'seccomp={"defaultAction":"SCMP_ACT_ALLOW"}',
        "label=type:container_t",
    ] == arguments.keywords["security_opt"]
    assert "caller" == arguments.effective.seccomp
    given = ["seccomp=unconfined", "no-new-privileges:false"]
    arguments = made({"security_opt": given}, allow_unsafe=("security_opt",))
    assert "none" == arguments.effective.seccomp
    assert "approximated" == state(arguments, "privileges")


def test_everything_else_is_passed_on_as_it_is() -> None:
    given = {
        "read_only": False,
        "hostname": "box",
        "name": "mine",
        "runtime": "runsc",
        "oom_score_adj": 900,
        "dns": ["192.0.2.53"],
        "extra_hosts": {"a": "192.0.2.1"},
        "cpuset_cpus": "0",
        "device_requests": [{"Driver": "", "Count": -1, "Capabilities": [["gpu"]]}],
        "healthcheck": {"test": ["CMD", "true"]},
    }
    arguments = made(given)
    assert given.items() <= arguments.keywords.items()
    assert not arguments.effective.read_only_root
    assert ("/",) == arguments.writable
    assert "approximated" == state(arguments, "disk")


@pytest.mark.parametrize(
    ("configs", "resource", "expected"),
    [
        ({"pid_mode": "host"}, "processes", "absent"),
        ({"privileged": True}, "privileges", "approximated"),
        ({"privileged": True}, "files", "absent"),
        ({"cap_add": ["NET_ADMIN"]}, "privileges", "approximated"),
        ({"user": "root"}, "privileges", "approximated"),
        ({"network_mode": "host"}, "network", "absent"),
        ({"volumes_from": ["other"]}, "files", "approximated"),
        ({"volumes": ["/etc:/host"]}, "files", "approximated"),
    ],
)
def test_allowed_dangers_are_in_the_report(
    configs: dict[str, Any], resource: str, expected: str
) -> None:
    arguments = made(configs, allow_unsafe=tuple(configs))
    assert expected == state(arguments, resource)
    assert "enforced" == state(made(), resource)
    assert tuple(configs) == arguments.effective.risks
