"""Container options are values: compared, hashed, checked once, and never the caller's own."""

from __future__ import annotations

import copy
import os
import pickle
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from docker.types import DeviceRequest, LogConfig, Mount, Ulimit

from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.backends.options.unsafe_options import UNSAFE
from llm_sandbox.exceptions import SandboxError, SecurityError, UnsupportedError, ValidationError

CONFIGS: dict[str, Any] = {
    "mem_limit": "512m",
    "environment": {"A": "1"},
    "ulimits": [Ulimit(name="nofile", soft=100, hard=200)],
    "mounts": [Mount("/data", "results", type="volume")],
    "device_requests": [DeviceRequest(count=-1, capabilities=[["gpu"]])],
    "volumes": {"cache": {"bind": "/cache", "mode": "rw"}},
    "ports": {"80/tcp": ("127.0.0.1", 8080)},
    "dns": ["192.0.2.53"],
}


def of(**configs: Any) -> ContainerOptions:
    return ContainerOptions(runtime_configs=configs)


# --- values


def test_equal_options_are_equal_and_hash_alike() -> None:
    first = ContainerOptions(runtime_configs=CONFIGS, mounts=["results:/r:ro"])
    second = ContainerOptions(
        runtime_configs=dict(reversed(copy.deepcopy(CONFIGS).items())),
        mounts=(Mount("/r", "results", type="volume", read_only=True),),
    )
    assert first == second
    assert hash(first) == hash(second)
    assert first != ContainerOptions(runtime_configs={**CONFIGS, "mem_limit": "1g"})
    assert ContainerOptions() == of(mem_limit=None)


def test_what_the_caller_passed_is_neither_changed_nor_kept() -> None:
    given = copy.deepcopy(CONFIGS)
    mounts = ["results:/r"]
    options = ContainerOptions(runtime_configs=given, mounts=mounts)
    assert CONFIGS == given
    assert ["results:/r"] == mounts
    given["dns"].append("192.0.2.1")
    given["volumes"]["cache"]["mode"] = "ro"
    assert ("192.0.2.53",) == options.runtime_configs["dns"]
    assert "rw" == options.runtime_configs["volumes"]["cache"]["mode"]
    with pytest.raises(TypeError):
        options.runtime_configs["dns"] = ()  # type: ignore[index]


def test_they_survive_a_pickle_and_a_copy() -> None:
    options = ContainerOptions(runtime_configs=CONFIGS, allow_unsafe=["privileged"])
    assert options == pickle.loads(pickle.dumps(options)) == copy.deepcopy(options)


def test_environment_and_timeout_are_the_sessions_and_not_compared() -> None:
    options = of(environment=["A=1", "B=x=y"], timeout=30)
    assert {"A": "1", "B": "x=y"} == dict(options.env)
    assert 30.0 == options.execution_timeout
    assert "timeout" not in options.runtime_configs
    assert ContainerOptions() == options
    assert hash(ContainerOptions()) == hash(options)
    assert "x=y" not in repr(options)


@pytest.mark.parametrize("value", [["NAME"], {"A": None}, {"": "x"}, {"A=B": "x"}, {"A": "\0"}, 7])
def test_an_environment_without_names_and_values_is_refused(value: object) -> None:
    with pytest.raises(ValidationError):
        of(environment=value)


def test_a_dockerfile_is_the_same_wherever_the_caller_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert str(tmp_path / "Dockerfile") == ContainerOptions(dockerfile="Dockerfile").dockerfile
    by_path = ContainerOptions(dockerfile=Path("Dockerfile"))  # type: ignore[arg-type]
    assert ContainerOptions(dockerfile=str(tmp_path / "Dockerfile")) == by_path


def test_importing_the_module_does_not_import_docker() -> None:
    code = (
        "import sys; "
        "from llm_sandbox.backends.options.container_options import ContainerOptions; "
        "import llm_sandbox.backends.containers.creation.arguments; "
        "ContainerOptions(image='x', mounts=['a:/b']); print('docker' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "False" == done.stdout.strip(), done.stderr


# --- contradictions and names


@pytest.mark.parametrize(
    ("settings", "parameter"),
    [
        ({"image": "a", "dockerfile": "."}, "dockerfile"),
        ({"container_id": "c", "image": "a"}, "image"),
        ({"container_id": "c", "dockerfile": "."}, "dockerfile"),
        ({"container_id": "c", "mounts": ["a:/b"]}, "mounts"),
        ({"container_id": "c", "runtime_configs": {"mem_limit": "1g"}}, "runtime_configs"),
        ({"commit_image_tag": "x"}, "commit_image_tag"),
        ({"image": ""}, "image"),
        ({"image": 3}, "image"),
        ({"runtime_configs": ["mem_limit"]}, "runtime_configs"),
        ({"runtime_configs": {"network": "a", "network_mode": "b"}}, "runtime_configs"),
        ({"runtime_configs": {"cpus": 1, "nano_cpus": 5}}, "runtime_configs"),
        ({"runtime_configs": {"labels": {"llm-sandbox.owner": "me"}}}, "runtime_configs"),
        ({"runtime_configs": {"dns": object()}}, "runtime_configs"),
        ({"runtime_configs": {"timeout": -1}}, "runtime_configs['timeout']"),
        ({"runtime_configs": {"volumes": "a:/b"}}, "runtime_configs"),
        ({"runtime_configs": {"volumes": {"a": {"mode": "ro"}}}}, "runtime_configs"),
        ({"runtime_configs": {"tmpfs": 3}}, "runtime_configs"),
        ({"runtime_configs": {"security_opt": ["seccomp=/no/such"]}}, "runtime_configs"),
        ({"mounts": ["nonsense"]}, "mounts"),
        ({"mounts": ["./here:/there"]}, "mounts"),
        ({"mounts": ["~/here:/there"]}, "mounts"),
        ({"mounts": ["here/below:/there"]}, "mounts"),
        ({"mounts": ["a:there"]}, "mounts"),
        ({"mounts": ["a:/there:wr"]}, "mounts"),
        ({"mounts": [3]}, "mounts"),
        ({"mounts": ["a:/opt/llm_sandbox"]}, "mounts"),
        ({"mounts": ["a:/opt/llm_sandbox/guest"]}, "mounts"),
        ({"mounts": ["a:/opt"]}, "mounts"),
        ({"allow_unsafe": ["privilegd"]}, "allow_unsafe"),
    ],
)
def test_what_makes_no_sense_is_refused(settings: dict[str, Any], parameter: str) -> None:
    with pytest.raises(ValidationError) as caught:
        ContainerOptions(**settings)
    assert parameter == caught.value.parameter


def test_an_attached_container_may_have_what_is_the_sessions() -> None:
    configs = {"environment": {"A": "1"}, "timeout": 3, "user": "1000"}
    options = ContainerOptions(container_id="c", runtime_configs=configs, commit_container=True)
    assert {"A": "1"} == dict(options.env)


@pytest.mark.parametrize(
    ("name", "suggested"),
    [("memlimit", "mem_limit"), ("mem_limits", "mem_limit"), ("enviroment", "environment")],
)
def test_an_unknown_name_is_refused_with_the_nearest(name: str, suggested: str) -> None:
    with pytest.raises(ValidationError, match=name) as caught:
        of(**{name: "1"})
    assert f"did you mean {suggested!r}?" == caught.value.hint


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("command", "execute_command"),
        ("entrypoint", "execute_command"),
        ("working_dir", "workdir="),
        ("image", "image="),
        ("tty", None),
        ("stdin_open", None),
        ("detach", None),
        ("auto_remove", "commit_container"),
        ("remove", "commit_container"),
        ("init", None),
        ("stream", "stream=True"),
        ("log_config", "on_stdout"),
        ("restart_policy", None),
        ("group_add", "uid:gid"),
    ],
)
def test_what_the_sandbox_decides_is_refused(name: str, instead: str | None) -> None:
    with pytest.raises(UnsupportedError, match=name) as caught:
        of(**{name: True})
    assert (caught.value.hint is None) if instead is None else instead in str(caught.value.hint)


def test_every_name_of_docker_py_is_accepted_or_refused_with_a_reason() -> None:
    from docker.models.containers import RUN_CREATE_KWARGS, RUN_HOST_CONFIG_KWARGS

    refused = set()
    for name in (*RUN_CREATE_KWARGS, *RUN_HOST_CONFIG_KWARGS, "ports", "volumes", "network"):
        try:
            of(**{name: {}})
        except UnsupportedError:
            refused.add(name)
        except SandboxError:
            pass  # this value is not acceptable; the name is known
    assert {"command", "entrypoint", "tty", "init"} < refused
    assert not {"mem_limit", "volumes", "runtime", "device_requests", "user"} & refused


def test_objects_of_docker_py_are_taken() -> None:
    options = of(ulimits=[Ulimit(name="core", soft=0, hard=0)])
    assert "core" == options.runtime_configs["ulimits"][0]["Name"]
    with pytest.raises(UnsupportedError):
        of(log_config=LogConfig(type="json-file"))


# --- dangers

DANGERS: list[tuple[str, Any]] = [
    ("privileged", True),
    ("cap_add", ["NET_ADMIN"]),
    ("cap_add", ["CAP_SYS_ADMIN", "KILL"]),
    ("devices", ["/dev/sda:/dev/sda:r"]),
    ("device_cgroup_rules", ["a *:* rwm"]),
    ("network_mode", "host"),
    ("network_mode", "container:other"),
    ("network", "host"),
    ("pid_mode", "host"),
    ("pid_mode", "container:other"),
    ("ipc_mode", "host"),
    ("ipc_mode", "container:other"),
    ("uts_mode", "host"),
    ("userns_mode", "host"),
    ("cgroupns", "host"),
    ("cgroup_parent", "/"),
    ("security_opt", ["seccomp=unconfined"]),
    ("security_opt", ["apparmor=unconfined"]),
    ("security_opt", ["apparmor:unconfined"]),
    ("security_opt", ["label=disable"]),
    ("security_opt", ["label:disable"]),
    ("security_opt", ["no-new-privileges:false"]),
    ("security_opt", ["systempaths=unconfined"]),
    ("sysctls", {"kernel.shmmax": "1"}),
    ("oom_kill_disable", True),
    ("oom_score_adj", -900),
    ("volumes_from", ["other"]),
    ("mem_limit", -1),
    ("mem_limit", 0),
    ("pids_limit", -1),
    ("user", "root"),
    ("user", "0:1000"),
    ("user", 0),
    ("volumes", {"/": {"bind": "/host", "mode": "ro"}}),
    ("volumes", ["/etc:/host:ro"]),
    ("mounts", [Mount("/host", "/proc", type="bind")]),
    (
        "mounts",
        [
            {
                "Target": "/x",
                "Source": "v",
                "Type": "volume",
                "VolumeOptions": {"DriverConfig": {"Options": {"o": "bind", "device": "/etc"}}},
            }
        ],
    ),
]


@pytest.mark.parametrize(("name", "value"), DANGERS, ids=lambda value: str(value)[:40])
def test_danger_is_refused_unless_named(name: str, value: object) -> None:
    with pytest.raises(SecurityError, match=name) as caught:
        of(**{name: value})
    assert f"allow_unsafe=['{name}']" in str(caught.value.hint)
    others = [other for other in UNSAFE if other != name]
    with pytest.raises(SecurityError):
        ContainerOptions(runtime_configs={name: value}, allow_unsafe=others)
    allowed = ContainerOptions(runtime_configs={name: value}, allow_unsafe=[name])
    assert (name,) == allowed.risks()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("privileged", False),
        ("cap_add", ["CAP_KILL", "setuid"]),
        ("cap_add", []),
        ("device_requests", [DeviceRequest(count=-1, capabilities=[["gpu"]])]),
        ("network_mode", "bridge"),
        ("network", "hostnet"),
        ("ipc_mode", "shareable"),
        ("userns_mode", "keep-id"),
        ("cgroupns", "private"),
        ("security_opt", ["label=type:container_t", "no-new-privileges"]),
        ("sysctls", {"net.ipv4.ip_unprivileged_port_start": "0"}),
        ("oom_score_adj", 900),
        ("volumes", {"a_volume": {"bind": "/data", "mode": "rw"}}),
        ("user", "1000:1000"),
        ("user", "nobody"),
        ("runtime", "runsc"),
        ("read_only", False),
    ],
    ids=lambda value: str(value)[:40],
)
def test_harmless_values_need_no_word(name: str, value: object) -> None:
    assert () == of(**{name: value}).risks()


def test_unsafe_names_are_compared_as_a_set() -> None:
    first = ContainerOptions(allow_unsafe=["privileged", "cap_add"])
    assert ContainerOptions(allow_unsafe=("cap_add", "privileged", "cap_add")) == first
    assert ("privileged",) == ContainerOptions(allow_unsafe="privileged").allow_unsafe


def test_a_seccomp_profile_is_read_where_its_path_is_given(tmp_path: Path) -> None:
    profile = tmp_path / "profile.json"
    profile.write_text('{ "defaultAction": "SCMP_ACT_ALLOW" }')
    given = of(security_opt=[f"seccomp={profile}"]).runtime_configs["security_opt"]
    assert ('seccomp={"defaultAction":"SCMP_ACT_ALLOW"}',) == given


# --- places of the host


@pytest.mark.parametrize(
    "source",
    [
        *("/", "/proc", "/proc/1/root", "/sys", "/sys/fs/cgroup", "/dev", "/dev/sda"),
        *("/etc", "/etc/shadow", "/boot", "/run", "/var/run", "/var", "/var/lib"),
        *("/var/lib/docker", "/var/lib/docker/volumes/x", "/var/lib/containers", "/root"),
        *("/root/.ssh", "/home", "/home/someone", "/var/lib/containerd"),
        *("/run/user/1000/docker.sock", "/var/run/docker.sock", "//etc//", "/tmp/../etc"),
    ],
)
def test_places_that_hold_the_machine_are_refused(source: str) -> None:
    with pytest.raises(SecurityError):
        of(volumes=[f"{source}:/inside:ro"])
    with pytest.raises(SecurityError):
        ContainerOptions(mounts=[f"{source}:/inside:ro"])
    assert ContainerOptions(mounts=[f"{source}:/inside:ro"], allow_unsafe=["mounts"])


@pytest.mark.parametrize("source", ["/srv/data", "/opt/models", "/var/lib/postgresql", "/etcetera"])
def test_other_places_are_not(source: str) -> None:
    options = ContainerOptions(mounts=[f"{source}:/inside:ro"])
    assert [(source, "/inside", True)] == [
        (place.source, place.target, place.read_only) for place in options.mount_points()
    ]


def test_links_are_followed_to_what_they_hide(tmp_path: Path) -> None:
    (tmp_path / "innocent").symlink_to("/etc")
    with pytest.raises(SecurityError):
        of(volumes=[f"{tmp_path}/innocent:/inside"])
    (tmp_path / "deeper").symlink_to(tmp_path / "innocent" / "ssl")
    with pytest.raises(SecurityError):
        of(volumes=[f"{tmp_path}/deeper:/inside"])


def test_a_folder_with_an_engines_socket_is_refused(tmp_path: Path) -> None:
    assert of(volumes=[f"{tmp_path}:/inside"])
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(tmp_path)  # a socket's path may have 107 bytes
        try:
            listener.bind("podman.sock")
        finally:
            os.chdir(here)
    with pytest.raises(SecurityError, match="socket"):
        of(volumes=[f"{tmp_path}:/inside"])
    with pytest.raises(SecurityError, match="socket"):
        of(volumes=[f"{tmp_path}/podman.sock:/inside"])
