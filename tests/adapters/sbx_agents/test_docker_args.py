"""Raw arguments of ``docker run``: read, refused, and judged."""

from pathlib import Path

import pytest

from llm_sandbox.adapters.sbx_agents import DockerSandbox
from llm_sandbox.adapters.sbx_agents.docker_args import read_docker_args
from llm_sandbox.exceptions import SecurityError, UnsupportedError, ValidationError
from tests.adapters.sbx_agents.agents import SHELL

DANGEROUS = [
    ["--privileged"],
    ["--pid=host"],
    ["--pid", "host"],
    ["--network", "host"],
    ["--net=host"],
    ["--ipc=host"],
    ["--uts=host"],
    ["--userns=host"],
    ["--cap-add", "SYS_ADMIN"],
    ["--device", "/dev/mem"],
    ["--security-opt", "seccomp=unconfined"],
    ["--security-opt=apparmor:unconfined"],
    ["-v", "/var/run/docker.sock:/docker.sock"],
    ["-v/:/host"],
    ["--volume=/etc:/host:ro"],
    ["--mount", "type=bind,source=/proc,target=/host"],
    ["--user", "0:0"],
    ["-u", "root"],
    ["--volumes-from", "other"],
    ["--pids-limit", "-1"],
]


def test_are_read() -> None:
    found = read_docker_args(
        [
            *("--cpus", "1.5", "--memory=2g", "-e", "A=b=c", "--tmpfs", "/scratch:size=8m"),
            *("-v", "/srv/cache:/cache:ro", "--ulimit", "nofile=64:128", "--read-only"),
            *("--mount", "type=bind,src=/srv/x,dst=/x,readonly", "-lteam=a"),
        ]
    )
    assert {
        "cpus": 1.5,
        "mem_limit": "2g",
        "tmpfs": {"/scratch": "size=8m"},
        "volumes": ["/srv/cache:/cache:ro"],
        "ulimits": [{"Name": "nofile", "Soft": 64, "Hard": 128}],
        "read_only": True,
        "labels": {"team": "a"},
    } == found.runtime_configs
    assert [{"Type": "bind", "ReadOnly": True, "Source": "/srv/x", "Target": "/x"}] == found.mounts
    assert {"A": "b=c"} == found.env


@pytest.mark.parametrize(
    "words", [["--frobnicate"], ["--cpus"], ["--cpus", "many"], ["image"], ["--mount", "type=bind"]]
)
def test_what_cannot_be_read_is_refused(words: list[str]) -> None:
    with pytest.raises(ValidationError, match="docker_args"):
        read_docker_args(words)


@pytest.mark.parametrize("word", ["--rm", "--name=x", "-w", "-it", "--entrypoint=sh", "-p80:80"])
def test_what_has_a_field_is_refused(word: str) -> None:
    with pytest.raises(UnsupportedError):
        read_docker_args([word])


@pytest.mark.parametrize("words", DANGEROUS, ids=" ".join)
def test_what_opens_the_walls_is_refused(words: list[str], tmp_path: Path) -> None:
    """It is refused before anything is made, with the field that takes the risk; with that it is
    not.
    """
    with pytest.raises(SecurityError, match="allow_dangerous=True"):
        DockerSandbox(workspace=tmp_path, docker_args=words).prepare(SHELL, None)
    allowed = DockerSandbox(workspace=tmp_path, docker_args=words, allow_dangerous=True)
    allowed.prepare(SHELL, None)


def test_harmless_ones_are_taken(workspace: Path) -> None:
    words = ["--cpus", "1", "--tmpfs", "/scratch:size=8m", "-v", f"{workspace}:/data:ro"]
    DockerSandbox(workspace=workspace, docker_args=words).prepare(SHELL, None)
