"""Check of a run for leftovers of this library, which fail it.

Looked at once, where results arrive, before the first and after the last test: processes, mounts,
control groups, temporary files, and what the container engines hold. What was there before counts
for nothing, nor does what is kept: images of ours, and the volumes with what runs inside and how
it is held.

Others may be using the machine, too. So what has a living owner is left to that; only an engine
that was started for the tests has to be as it was.
"""

# ruff: noqa: PTH207
# Because: names in control groups are the kernel's.

from __future__ import annotations

import contextlib
import gc
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox.backends.base import Backend
from llm_sandbox.backends.containers.gc.labels import OWNER
from llm_sandbox.backends.inventory import Owner
from llm_sandbox.guest.process_tree import MARKER
from llm_sandbox.sandbox.detached.state_dir import default_state_dir
from llm_sandbox.session.prefork import shared_pool
from tests.engines import STARTED, docker_answers

if TYPE_CHECKING:
    from collections.abc import Iterable

    Held = tuple[str, str, dict[str, str]]
    """Kind, name and labels of a resource in an engine."""

WAIT_S = 20.0
NAMES = (
    *("bwrap", "files", "init", "kernel", "llm-sandbox", "mux", "runner", "runsc", "supervisor"),
    "zygote",
)
MARK = f"{MARKER}=".encode()
"""Variable of every program in a sandbox."""
KEPT_IMAGES = ("llm-sandbox/", "llm-sandbox-test/", "debian")
KEPT_VOLUMES = ("llm-sandbox-guest-", "llm-sandbox-layers", "llm-sandbox-seccomp-")
_key = pytest.StashKey[set[str]]()


def pytest_sessionstart(session: pytest.Session) -> None:
    if _looks(session.config):
        session.config.stash[_key] = _everything()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    before = session.config.stash.get(_key, None)
    if before is None:
        return
    if not session.config.pluginmanager.hasplugin("dsession"):
        _close_everything()
    deadline = time.monotonic() + WAIT_S
    while (left := _everything() - before) and time.monotonic() < deadline:
        time.sleep(0.5)
    session.config.stash[_key] = left
    if left and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    left = config.stash.get(_key, set())
    if left:
        terminalreporter.section("left behind", red=True)
        for line in sorted(left):
            terminalreporter.write_line(line)


def _looks(config: pytest.Config) -> bool:
    # Of several processes the one that the others report to.
    return not hasattr(config, "workerinput") and not config.option.collectonly


def _close_everything() -> None:
    """Close everything, as at the exit of a process that runs tests itself."""
    shared_pool().clear()
    for backend in [found for found in gc.get_objects() if isinstance(found, Backend)]:
        backend.close()


def _everything() -> set[str]:
    return _processes() | _mounts() | _cgroups() | _files() | _docker() | _podman()


# --- the machine


def _processes() -> set[str]:
    """Return processes of this library whose starter is gone; the others belong to a living one."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):
            text = (entry / "stat").read_text(errors="replace")
            name = text[text.index("(") + 1 : text.rindex(")")]
            state, parent, *rest = text[text.rindex(")") + 2 :].split()
            if parent != "1" or state in "ZX":
                continue
            if name.startswith(NAMES) or MARK in (entry / "environ").read_bytes():
                found.add(f"process {entry.name} {name} (started at tick {rest[17]})")
    return found


def _mounts() -> set[str]:
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return {f"mount {line}" for line in lines if "llm-sandbox" in line}


def _cgroups() -> set[str]:
    found = set()
    for path in glob.glob("/sys/fs/cgroup/**/llm-sandbox-*", recursive=True):
        owner = re.search(r"llm-sandbox-(\d+)", path)
        if owner is None or not _lives(int(owner[1])):
            found.add(f"control group {path}")
    return found


def _lives(pid: int) -> bool:
    return pid != os.getpid() and Path(f"/proc/{pid}").exists()


def _files() -> set[str]:
    found = Path(tempfile.gettempdir()).glob("llm-sandbox-*")
    # A sandbox that is kept and lives; of one that has ended, its record alone stays for a while.
    kept = Path(default_state_dir()).glob("sb-*.sock")
    return {f"file {path}" for path in (*found, *kept)}


# --- the engines


def _docker() -> set[str]:
    if not docker_answers():
        return set()
    try:
        import docker
    except ImportError:
        return set()
    own = os.environ.get(STARTED) == "docker"
    with contextlib.closing(docker.from_env()) as client:
        api = client.api
        dangling = api.images(filters={"dangling": True})
        held = [
            *_named("container", "Id", api.containers(all=True)),
            *_named("volume", "Name", api.volumes()["Volumes"] or []),
            *_named("network", "Name", api.networks()),
            *_named("image without a name", "Id", dangling),
        ]
        names = {name for image in api.images() for name in image["RepoTags"] or []}
    found = _left("docker", held, own=own)
    if own:
        found |= {f"docker image {name}" for name in names if not name.startswith(KEPT_IMAGES)}
    return found


def _podman() -> set[str]:
    program = shutil.which("podman")
    if program is None:
        return set()

    def ask(*words: str) -> list[dict[str, Any]]:
        done = subprocess.run([program, *words, "--format", "json"], capture_output=True)
        return json.loads(done.stdout or "[]") or [] if done.returncode == 0 else []

    held = [
        *_named("container", "Id", ask("ps", "--all")),
        *_named("volume", "Name", ask("volume", "ls")),
        *_named("image without a name", "Id", ask("images", "--filter", "dangling=true")),
    ]
    return _left("podman", held, own=False)


def _named(kind: str, key: str, objects: Iterable[dict[str, Any]]) -> list[Held]:
    return [(kind, found[key], found.get("Labels") or {}) for found in objects]


def _left(engine: str, held: list[Held], *, own: bool) -> set[str]:
    found = set()
    for kind, name, labels in held:
        owner = Owner.parse(labels.get(OWNER, ""))
        ended = owner is not None and (owner.pid == os.getpid() or owner.is_alive is False)
        if (own or ended) and not (kind == "volume" and name.startswith(KEPT_VOLUMES)):
            found.add(f"{engine} {kind} {name[:32]}")
    return found
