"""Hardening of Podman's containers, observed from inside."""

import json
import time

import pytest

from llm_sandbox.backends.base import MachineSpec
from llm_sandbox.backends.containers.attach_stream import plain_socket
from llm_sandbox.backends.containers.creation.arguments import create_arguments
from llm_sandbox.backends.containers.gc.labels import OWNER, new_labels
from llm_sandbox.backends.inventory import current_owner
from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.backends.podman.compatibility import folder_modes, to_podman_arguments
from llm_sandbox.exceptions import UnsupportedError
from llm_sandbox.limits import Limits

pytestmark = pytest.mark.engine

_LOOK = """
import json, os, socket
found = {}
with open("/proc/self/status") as file:
    lines = file.read().splitlines()
found["status"] = dict(line.split(":\\t", 1) for line in lines if ":\\t" in line)
with open("/proc/self/mounts") as file:
    found["mounts"] = {line.split()[1]: line.split()[3] for line in file}
with open("/proc/self/limits") as file:
    found["limits"] = {line[:26].strip(): line[26:].split()[:2] for line in file}
with open("/proc/net/dev") as file:
    found["network"] = [line.split(":")[0].strip() for line in file.readlines()[2:]]
found["wrote"] = []
for folder in ("", "/run", "/var/tmp", "/dev/shm", "/tmp", "/sandbox"):
    try:
        with open(folder + "/x", "w"):
            found["wrote"].append(folder + "/x")
    except OSError:
        pass
calls = {"hostname": lambda: socket.sethostname("x"), "chroot": lambda: os.chroot("/")}
for name, call in calls.items():
    try:
        call()
        found[name] = "done"
    except OSError as error:
        found[name] = error.errno
print(json.dumps(found))
"""


@pytest.fixture
def look(engine, image, python):
    """Run `_LOOK` as process 1 of a container; what it found."""

    def look(arguments, *, translated=True):
        command = [*python, _LOOK]
        if translated:
            container = engine.create_container(image, command, arguments)
        else:
            container = engine.client.containers.create(image, command, **arguments).id
        streams = {"stream": 1, "stdin": 1, "stdout": 1, "stderr": 1}
        connection = plain_socket(engine.api.attach_socket(container, params=streams))
        connection.settimeout(30)
        engine.api.start(container)
        said = b""
        while piece := connection.recv(1 << 16):
            said += piece
        connection.close()
        return json.loads(_without_headers(said))

    return look


def _without_headers(said: bytes) -> bytes:
    text = b""
    while said:
        size = int.from_bytes(said[4:8], "big")
        text, said = text + said[8 : 8 + size], said[8 + size :]
    return text


def _arguments(options=None, **limits):
    spec = MachineSpec(limits=Limits(**limits))
    made = create_arguments(
        spec, options or ContainerOptions(), engine="podman", labels=new_labels()
    )
    return dict(made.keywords)


def test_every_wall_is_up(look):
    found = look(_arguments(tmp_bytes=1 << 20, workdir_bytes=2 << 20, shm_bytes=3 << 20))

    status, mounts, limits = found["status"], found["mounts"], found["limits"]
    assert ("1", "2") == (status["NoNewPrivs"], status["Seccomp"])
    # KILL, SETGID, SETUID, SETPCAP, and SYS_PTRACE at most.
    assert 0 == int(status["CapBnd"], 16) & ~0x801E0
    assert ["lo"] == found["network"]
    assert "ro" in mounts["/"].split(",")
    assert ["/dev/shm/x", "/tmp/x"] == [path for path in found["wrote"] if path != "/sandbox/x"]
    sizes = {"/tmp": "1024k", "/sandbox": "2048k", "/dev/shm": "3072k"}
    for path, size in sizes.items():
        words = mounts[path].split(",")
        assert {f"size={size}", "nosuid", "nodev"} <= {*words}, (path, words)
    for path in ("/run", "/var/tmp"):
        assert "ro" in mounts[path].split(",")
    assert ["4096", "4096"] == limits["Max open files"]
    assert ["4096", "4096"] == limits["Max processes"]
    assert ["0", "0"] == limits["Max core file size"]
    assert "done" not in (found["hostname"], found["chroot"])


def test_the_walls_are_ours(look):
    """The control: of an ordinary container of the same engine, none of it is true."""
    found = look(
        {
            "network_mode": "bridge",
            "cap_add": ["SYS_ADMIN"],
            "security_opt": ["seccomp=unconfined"],
            "ulimits": [{"Name": name, "Soft": 512, "Hard": 512} for name in ("nofile", "nproc")],
            "stdin_open": True,
            "auto_remove": True,
            "labels": new_labels(),
        },
        translated=False,
    )

    assert ("0", "0") == (found["status"]["NoNewPrivs"], found["status"]["Seccomp"])
    assert {"/x", "/run/x", "/var/tmp/x"} <= {*found["wrote"]}
    assert "done" == found["hostname"] == found["chroot"]
    assert ["lo"] != found["network"]


def test_extra_file_systems_are_there_without_our_word(look, engine):
    """The control: with a read-only root Podman adds writable ones, which nothing limits."""
    arguments = to_podman_arguments(_arguments(), profile_path=lambda _: "unconfined", runtime=None)
    for place in ("/run", "/var/tmp"):
        del arguments["tmpfs"][place]

    found = look(arguments, translated=False)

    assert {"/run/x", "/var/tmp/x"} <= {*found["wrote"]}
    assert not any("size=" in found["mounts"][place] for place in ("/run", "/var/tmp"))


def test_a_place_of_the_callers_is_left_to_them(look):
    options = ContainerOptions(runtime_configs={"tmpfs": {"/run": "rw,size=1m"}})

    found = look(_arguments(options))

    assert "/run/x" in found["wrote"]
    assert "size=1024k" in found["mounts"]["/run"].split(",")


def _profile(answer: int) -> ContainerOptions:
    """Options with a profile of their own: `chroot` is answered with that error."""
    rule = {"names": ["chroot"], "action": "SCMP_ACT_ERRNO", "errnoRet": answer}
    profile = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [rule]}
    option = f"seccomp={json.dumps(profile)}"
    return ContainerOptions(runtime_configs={"security_opt": [option]})


def test_a_profile_of_the_callers_is_put_where_podman_reads_it(look):
    assert 77 == look(_arguments(_profile(77)))["chroot"]
    assert 77 != look(_arguments())["chroot"]


def test_a_profile_that_somebody_has_removed_is_written_again(look, engine):
    options = _profile(78)
    assert 78 == look(_arguments(options))["chroot"]
    ours = {"label": f"{OWNER}={current_owner()}"}
    removed = [_remove(volume) for volume in engine.client.volumes.list(filters=ours)]
    assert removed

    assert 78 == look(_arguments(options))["chroot"]


def _remove(volume):
    import docker

    for _ in range(50):
        try:
            return volume.remove(force=True)
        except docker.errors.APIError:
            time.sleep(0.1)  # the container that filled it is still on its way out
    raise AssertionError("the volume stays in use")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("runtime", "runsc"),
        ("device_requests", [{"Driver": "nvidia", "Count": -1}]),
        ("volume_driver", "nfs"),
        ("userns_mode", "keep-id"),
    ],
)
def test_what_podman_would_pass_over_is_refused(engine, image, name, value):
    with pytest.raises(UnsupportedError, match=name):
        engine.create_container(image, ["true"], {name: value, "labels": new_labels()})


def test_the_runtime_that_it_has_is_no_option_to_refuse(engine):
    runtime = engine.facts["DefaultRuntime"]

    assert "runtime" not in to_podman_arguments(
        {"runtime": runtime}, profile_path=str, runtime=runtime
    )


def test_folders_get_the_permissions_that_they_were_to_have():
    tmpfs = {
        "/sandbox": "rw,nosuid,size=1,mode=0777,notmpcopyup",
        "/tmp": "rw,mode=1777",
        "/run": "ro,mode=0755",
        "/other": "size=4m",
    }

    assert {"/sandbox": 0o777, "/tmp": 0o1777} == folder_modes(tmpfs)


def test_a_rootless_engine_names_the_limits_it_has(engine):
    facts = engine.facts
    believed = engine.client.info()

    passed_over = bool(believed["Rootless"]) and str(believed["CgroupVersion"]) == "1"
    assert (False if passed_over else believed["MemoryLimit"]) == facts["MemoryLimit"]
