"""Real containers made with our arguments hold what the report says, seen from inside and from
outside; each attack gets through in a container without them.
"""

from __future__ import annotations

import json
import os
import platform
import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import docker
import docker.errors
import pytest
import requests

from llm_sandbox import __version__
from llm_sandbox.backends.base import MachineSpec
from llm_sandbox.backends.containers.creation.arguments import create_arguments
from llm_sandbox.backends.hardening.seccomp_profile import build_profile
from llm_sandbox.backends.hardening.syscalls import (
    ARCHITECTURES,
    FILTERED,
    REFUSED_ENOSYS,
    REFUSED_EPERM,
)
from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.backends.options.unsafe_options import ADDED_CAPABILITIES
from llm_sandbox.limits import Limits
from tests.containers.filters import ALLOW, Profile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from docker.models.containers import Container

pytestmark = pytest.mark.engine

CORPUS = Path(__file__).parent / "corpus"
MIB = 1 << 20
USER = "65532:65532"
LABEL = "llm-sandbox-test"
SMALL = MachineSpec(
    limits=Limits(
        memory_bytes=64 * MIB,
        processes=20,
        cpus=0.5,
        workdir_bytes=4 * MIB,
        tmp_bytes=2 * MIB,
        shm_bytes=1 * MIB,
        inodes=100,
    )
)
NUMBERS = {"KILL": 5, "SETGID": 6, "SETUID": 7, "SETPCAP": 8, "SYS_PTRACE": 19}
UNKNOWN_TO_LIBSECCOMP = {"listmount", "open_tree_attr", "statmount"}
"""Calls younger than the library that many engines turn names into numbers with; process 1's own
filter has them."""


@pytest.fixture(scope="module")
def engine() -> Iterator[docker.DockerClient]:
    try:
        client = docker.from_env()
        client.ping()
    except (docker.errors.DockerException, requests.RequestException) as error:
        pytest.skip(f"no Docker engine answers: {error}")
    yield client
    client.close()


@pytest.fixture(scope="module")
def image(engine: docker.DockerClient) -> str:
    """Name of an image with Python."""
    name = os.environ.get("LLM_SANDBOX_TEST_IMAGE", f"llm-sandbox/python:{__version__}")
    try:
        engine.images.get(name)
    except docker.errors.ImageNotFound:
        pytest.skip(f"the image {name} is not there: llm-sandbox images build python")
    return name


class Box:
    """A running container whose process 1 waits for the end of its standard input."""

    def __init__(self, engine: docker.DockerClient, image: str, **keywords: Any) -> None:
        keywords = {"stdin_open": True, "entrypoint": [], **keywords}
        keywords["labels"] = {LABEL: "hardening", **keywords.get("labels", {})}
        self.container: Container = engine.containers.create(image, ["cat"], **keywords)
        self.attached: Any = None

    def start(self) -> None:
        params = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
        self.attached = self.container.attach_socket(params=params)
        self.container.start()
        self.container.reload()

    def python(self, program: str, *arguments: str, user: str = USER) -> str:
        source = (CORPUS / f"{program}.py").read_text(encoding="utf-8")
        command = ["python3", "-c", source, *arguments]
        done = self.container.exec_run(command, user=user, workdir="/", demux=True)
        out, err = (part.decode() if part else "" for part in done.output)
        assert out or done.exit_code, err
        return out or f"ended with {done.exit_code}"

    def hang_up(self) -> None:
        """Close the connection to process 1."""
        if self.attached is not None:
            self.attached._sock.shutdown(socket.SHUT_RDWR)
            self.attached._sock.close()
            self.attached.close()
            self.attached = None

    def remove(self) -> None:
        self.hang_up()
        try:
            self.container.remove(force=True, v=True)
        except docker.errors.APIError as error:
            assert error.status_code in (404, 409), error  # noqa: PT017 - it removes itself


@pytest.fixture(scope="module")
def make(engine: docker.DockerClient, image: str, network: str) -> Iterator[Callable[..., Box]]:
    boxes: list[Box] = []

    def make_box(**keywords: Any) -> Box:
        boxes.append(Box(engine, image, **keywords))
        boxes[-1].start()
        return boxes[-1]

    yield make_box
    for box in boxes:
        box.remove()


@pytest.fixture(scope="module")
def hardened(make: Callable[..., Box]) -> Box:
    return make(**create_arguments(SMALL, ContainerOptions()).keywords)


@pytest.fixture(scope="module")
def network(engine: docker.DockerClient) -> Iterator[str]:
    """Name of a network, as the engine's own default may have been configured away."""
    made = engine.networks.create(f"llm-sandbox-test-{os.getpid()}", labels={LABEL: "hardening"})
    yield str(made.name)
    made.remove()


@pytest.fixture(scope="module")
def plain(make: Callable[..., Box], network: str) -> Box:
    """What an engine makes when it is told nothing of walls."""
    return make(network=network, user="0")


@pytest.fixture(scope="module")
def unfiltered(make: Callable[..., Box], network: str) -> Box:
    """The same, without a filter on system calls."""
    return make(security_opt=["seccomp=unconfined"], network=network, user="0")


# --- from inside


@pytest.fixture(scope="module")
def inside(hardened: Box) -> Any:
    return json.loads(hardened.python("walls"))


@pytest.fixture(scope="module")
def inside_plain(plain: Box) -> Any:
    """The same attempts as the user that engines run code as."""
    return json.loads(plain.python("walls", user="0"))


def test_code_has_no_privileges_and_gains_none(inside: Any, inside_plain: Any) -> None:
    assert [65532, 65532, [65532]] == inside["ids"] or [65532, 65532, []] == inside["ids"]
    status = inside["status"]
    for kind in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        assert 0 == int(status[kind], 16), kind
    # What process 1 needs; it takes this from code as well, which was started by the engine here.
    needed = sum(1 << NUMBERS[name] for name in ADDED_CAPABILITIES)
    assert needed == int(status["CapBnd"], 16)
    assert ("1", "2") == (status["NoNewPrivs"], status["Seccomp"])
    assert int(inside_plain["status"]["CapEff"], 16)
    assert "0" == inside_plain["status"]["NoNewPrivs"]


STOPPED = {
    "write /": "EROFS",
    "write /usr/bin": "EROFS",
    "write /etc": "EROFS",
    "write /dev": "EACCES",
    "read shadow": "EACCES",
    "become root": "EPERM",
    "kill process 1": "EPERM",
    "read process 1": "EACCES",
    "memory of process 1": "EACCES",
    "output of process 1": "EACCES",
    "chroot": "EPERM",
    "device": "EPERM",
    "packets": "EAFNOSUPPORT",
    "raw internet": "EPERM",
    "virtual machine sockets": "EAFNOSUPPORT",
    "audit": "EAFNOSUPPORT",
    "reach outside": "ENETUNREACH",
}
"""What gets through in a container of which nothing was asked."""


@pytest.mark.parametrize("attempt", STOPPED)
def test_the_walls_hold(attempt: str, inside: Any, inside_plain: Any) -> None:
    assert STOPPED[attempt] == inside["found"][attempt]
    assert "ok" == inside_plain["found"][attempt]


@pytest.mark.parametrize("attempt", ["mount", "net namespace", "user namespace"])
def test_walls_that_engines_have_as_well_hold(attempt: str, inside: Any, make: Any) -> None:
    assert "EPERM" == inside["found"][attempt]
    if attempt == "mount":  # the control: a container with the capability for it
        free = make(cap_add=["SYS_ADMIN"], network_mode="none")
        assert "ok" == json.loads(free.python("walls", user="0"))["found"][attempt]


def test_the_kernels_settings_cannot_be_written(inside: Any) -> None:
    assert inside["found"]["set a kernel parameter"] in ("EACCES", "EROFS")


def test_what_libraries_need_of_the_kernel_is_left(inside: Any) -> None:
    assert "ok" == inside["found"]["route"]


def test_there_is_no_network_but_loopback(inside: Any, inside_plain: Any) -> None:
    assert ["lo"] == inside["interfaces"]
    assert "eth0" in inside_plain["interfaces"]


def test_file_systems_are_what_was_asked_for(inside: Any) -> None:
    mounts = inside["mounts"]
    assert "ro" == mounts["/"][1].split(",")[0]
    for place, size in (("/sandbox", 4096), ("/tmp", 2048), ("/dev/shm", 1024)):
        kind, options = mounts[place]
        assert "tmpfs" == kind
        wanted = {"rw", "nosuid", "nodev", f"size={size}k", "nr_inodes=100"}
        assert wanted <= set(options.split(",")), place


def test_places_fill_up(hardened: Box, plain: Box) -> None:
    for place, size in (("/sandbox", 4), ("/tmp", 2), ("/dev/shm", 1)):
        count, error = hardened.python("space", place, "files", "1000").split()
        assert ("ENOSPC", True) == (error, 90 < int(count) <= 100), place
        filled = hardened.python("space", place, "bytes", str(16 * MIB)).strip()
        assert f"{size * MIB} ENOSPC" == filled, place
    assert "1000 ok" == plain.python("space", "/tmp", "files", "1000").strip()
    assert f"{16 * MIB} ok" == plain.python("space", "/tmp", "bytes", str(16 * MIB)).strip()


def test_programs_can_be_started_where_they_are_built(hardened: Box) -> None:
    assert ["/sandbox", "/tmp"] == hardened.python("start_here", "/sandbox", "/tmp").split()


def test_processes_are_counted(make: Callable[..., Box], plain: Box) -> None:
    box = make(**create_arguments(SMALL, ContainerOptions()).keywords)
    assert int(box.python("forks")) < 20 + 16
    assert 300 == int(plain.python("forks"))
    box.remove()


def test_memory_is_held_swap_included(make: Callable[..., Box], plain: Box) -> None:
    hungry = ["python3", "-c", "x = b'x' * (300 << 20); print(len(x))"]
    box = make(**create_arguments(SMALL, ContainerOptions()).keywords)
    assert 137 == box.container.exec_run(hungry, user=USER).exit_code
    assert 0 == plain.container.exec_run(hungry, user=USER).exit_code
    box.remove()


# --- system calls

X86_64 = platform.machine() == "x86_64"
SOCKETS = [
    [family | rubbish, 1, protocol]
    for family in (*range(46), 0x7FFFFFFF, 0xFFFFFFFF)
    for protocol in (0, 9)
    for rubbish in (0, 1 << 40)
]
ARGUMENTS: dict[str, list[list[int]]] = {
    "socket": SOCKETS,
    "socketpair": SOCKETS,
    "personality": [
        [value | rubbish]
        for value in (0, 0xFFFFFFFF, 8, *(1 << bit for bit in range(32)))
        for rubbish in (0, 1 << 40)
    ],
    "ioctl": [[0, 0x5412], [0, 0x541C], [0, 0x5412 | 1 << 40], [0, 0x5401]],
    "clone": [[1 << bit | 17] for bit in (7, 17, 25, 26, 27, 28, 29, 30)],
    "mknod": [[0, 0o20666], [0, 0o60666], [0, 0o10666]],
    "mknodat": [[0, 0, 0o20666], [0, 0, 0o60666], [0, 0, 0o10666]],
}


@pytest.fixture(scope="module")
def column() -> int:
    machine = platform.machine()
    if machine not in ARCHITECTURES:
        pytest.skip(f"there is no table for {machine}")
    return ARCHITECTURES[machine][0]


def calls(box: Box, entries: list[tuple[int, list[int], bool]]) -> list[int]:
    answers: list[int] = json.loads(box.python("system_calls", json.dumps(entries)))
    return answers


def test_every_call_of_the_tables_answers_as_they_say(
    hardened: Box, unfiltered: Box, column: int
) -> None:
    profile = Profile(build_profile())
    wanted: list[tuple[str, list[int]]] = [
        (name, [0] * 6)
        for name, numbers in {**REFUSED_EPERM, **REFUSED_ENOSYS}.items()
        if numbers[column] is not None and name not in UNKNOWN_TO_LIBSECCOMP
    ] + [
        (name, arguments)
        for name, lists in ARGUMENTS.items()
        if FILTERED[name][column] is not None
        for arguments in lists
    ]
    tables = {**REFUSED_EPERM, **REFUSED_ENOSYS, **FILTERED}
    together = {"socket", "socketpair", "personality", "ioctl"}
    entries = [
        (int(tables[name][column] or 0), arguments, name not in together)
        for name, arguments in wanted
    ]
    refused, controls = calls(hardened, entries), calls(unfiltered, entries)
    through = set()
    for (name, arguments), answer, control in zip(wanted, refused, controls, strict=True):
        verdict = profile.verdict(name, tuple(arguments))
        if verdict == ALLOW:
            assert control == answer, f"{name}{arguments}"
        else:
            assert verdict == answer, f"{name}{arguments}"
            if control != answer:
                through.add(name)
    assert {
        *("io_uring_setup", "ptrace", "keyctl", "unshare", "userfaultfd", "bpf", "personality"),
        *("process_vm_readv", "clone", "socket", "ioctl", "clone3", "kcmp", "add_key"),
    } <= through | {"userfaultfd", "bpf"}


@pytest.mark.skipif(not X86_64, reason="the second and the 32-bit table are x86_64's")
def test_other_tables_end_the_process(hardened: Box, unfiltered: Box, plain: Box) -> None:
    x32 = [(0x40000000 | 39, [0], True)]
    assert [-31] == calls(hardened, x32)  # SIGSYS
    assert [-31] != calls(unfiltered, x32)
    answered = plain.python("old_table")
    if "answered True" not in answered:
        pytest.skip(f"this kernel has no 32-bit table: {answered}")
    assert "answered" not in hardened.python("old_table")


# --- from outside


def test_the_engine_was_told_everything(hardened: Box) -> None:
    host = hardened.container.attrs["HostConfig"]
    settings = hardened.container.attrs["Config"]
    assert not host["Privileged"]
    assert host["ReadonlyRootfs"]
    assert host["AutoRemove"]
    assert "none" == host["NetworkMode"]
    assert "private" == host["IpcMode"]
    assert ["ALL"] == host["CapDrop"]
    assert 36 == host["PidsLimit"]
    assert 256 * MIB == host["Memory"] == host["MemorySwap"]
    assert 500_000_000 == host["NanoCpus"]
    assert 500 == host["OomScoreAdj"]
    assert "none" == host["LogConfig"]["Type"]
    assert not host["Binds"]
    assert not host["Devices"]
    assert settings["OpenStdin"]
    assert settings["StdinOnce"]
    assert not settings["Tty"]
    assert "0:0" == settings["User"]


def test_the_container_ends_with_the_connection_and_is_removed(
    make: Callable[..., Box], engine: docker.DockerClient
) -> None:
    box = make(**create_arguments(SMALL, ContainerOptions()).keywords)
    box.hang_up()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            engine.containers.get(box.container.id)
        except docker.errors.NotFound:
            return
        time.sleep(0.1)
    pytest.fail("the container is still there")


# --- what callers ask for


def test_another_user_owns_the_workdir(make: Callable[..., Box]) -> None:
    options = ContainerOptions(runtime_configs={"user": "1000:1001"})
    box = make(**create_arguments(SMALL, options).keywords)
    owner = box.container.exec_run(["stat", "-c", "%u:%g", "/sandbox"]).output
    assert b"1000:1001" == owner.strip()
    box.remove()


def test_a_user_with_a_name_can_write_there(make: Callable[..., Box]) -> None:
    options = ContainerOptions(runtime_configs={"user": "nobody"})
    arguments = create_arguments(SMALL, options)
    box = make(**arguments.keywords)
    for path, mode in arguments.modes.items():  # what process 1 does
        assert 0 == box.container.exec_run(["chmod", f"{mode:o}", path], user="0:0").exit_code
    assert 0 == box.container.exec_run(["touch", "/sandbox/file"], user="nobody").exit_code
    box.remove()


def test_runtime_configs_reach_the_engine(make: Callable[..., Box], network: str) -> None:
    options = ContainerOptions(
        runtime_configs={
            "mem_limit": "300m",
            "cpu_count": 1,
            "read_only": False,
            "hostname": "box",
            "network": network,
            "ports": {"80/tcp": None},
            "tmpfs": {"/scratch": "size=1m"},
            "ulimits": [{"name": "nofile", "soft": 99, "hard": 99}],
            "labels": {"team": "x"},
            "dns": ["192.0.2.53"],
        },
        mounts=["/opt:/mnt/opt:ro"],
    )
    box = make(**create_arguments(SMALL, options).keywords)
    host = box.container.attrs["HostConfig"]
    assert 300 * MIB == host["Memory"]
    assert 1_000_000_000 == host["NanoCpus"]
    assert ["192.0.2.53"] == host["Dns"]
    assert "box" == box.container.attrs["Config"]["Hostname"]
    assert "x" == box.container.attrs["Config"]["Labels"]["team"]
    seen = json.loads(box.python("walls", user="0"))
    assert {"lo", "eth0"} == set(seen["interfaces"])
    assert "size=1024k" in seen["mounts"]["/scratch"][1]
    assert "ro" in seen["mounts"]["/mnt/opt"][1].split(",")
    assert "ok" == seen["found"]["write /"]
    assert b"99" == box.container.exec_run(["sh", "-c", "ulimit -n"]).output.strip()
    box.remove()
