"""The container engines of a test run: installed, started, given their images, and stopped again.

    python tests/engines.py [--install] [--tests ARGS...] -- COMMAND...
    python tests/engines.py status

Only root can start engines. What already runs is used and left alone; what is started here ends
with the command, however that ends. Arguments after `--tests` are those of pytest: engines are
started, and images made, only if the tests that it then chooses need them, by their marker
`engine`.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# Debian's packages, by a program of each; an engine without the rest of its line does less.
PACKAGES = {
    "dockerd": ("docker.io", "iptables"),
    "podman": ("podman",),
    "runsc": ("runsc",),
    "mmdebstrap": ("mmdebstrap",),
    "newuidmap": ("uidmap",),
}
DOCKER_SOCKET = "/var/run/docker.sock"
ROOT = Path(__file__).parents[1]
USUAL = {"docker": ["python"], "podman": ["python"]}
"""Images for a command that is no test run."""
START_S = 60.0
STOP_S = 20.0
PR_SET_PDEATHSIG = 1
NEEDS = "LLM_SANDBOX_TEST_NEEDS"
"""Names the file that a collecting pytest writes the needed images to; see plugins."""
KUBECONFIG, LOAD = "LLM_SANDBOX_TEST_KUBECONFIG", "LLM_SANDBOX_TEST_LOAD_IMAGE"
"""Name a cluster for tests, and a program that brings an image into it; see cluster_image."""
STARTED = "LLM_SANDBOX_TEST_ENGINES"
"""Set while an engine runs that was started here: nobody else uses it."""


def say(words: str) -> None:
    """Tell people."""
    print(f"==> {words}", flush=True)


# --- programs


def install() -> None:
    """Install what is missing, where that can be done; each package by itself, as a distribution
    may lack one of them.
    """
    missing = [program for program in PACKAGES if not _find(program)]
    if not missing:
        return
    if os.geteuid() != 0 or not _find("apt-get"):
        why = "only root can install" if os.geteuid() else "there is no apt-get"
        say(f"not installed, and {why}: {', '.join(missing)}; tests that need them are skipped")
        return
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "-qq", "update"], check=False, env=environment)
    for program in missing:
        packages = PACKAGES[program]
        started = time.monotonic()
        done = subprocess.run(
            ["apt-get", "-qq", "install", "--yes", "--no-install-recommends", *packages],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            say(f"installed {' '.join(packages)} ({time.monotonic() - started:.0f} s)")
        else:
            words = (done.stderr or done.stdout).strip().splitlines()
            say(f"cannot install {program}: {words[-1] if words else done.returncode}")


def _find(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin:/usr/bin:/bin")


# --- the Docker engine


def docker_answers() -> bool:
    """Return whether an engine listens where this process would look for one."""
    if os.environ.get("DOCKER_HOST"):
        return True
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(5)
        try:
            probe.connect(DOCKER_SOCKET)
            probe.sendall(b"GET /_ping HTTP/1.0\r\nHost: docker\r\n\r\n")
            return b" 200 " in probe.recv(64)
        except OSError:
            return False


@contextlib.contextmanager
def docker_engine() -> Iterator[bool]:
    """An engine for as long as the block; whether there is one that was started for it."""
    program = _find("dockerd")
    if docker_answers():
        say("docker: using the engine that runs already")
        yield False
        return
    if os.geteuid() != 0 or program is None:
        why = "only root can start it" if program else "not installed"
        say(f"docker: no engine answers, and {why}; tests that need it are skipped")
        yield False
        return
    started = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="docker-engine-"))
    process = _start_docker(program, folder)
    try:
        while not (answers := docker_answers()):
            if process.poll() is not None or time.monotonic() > started + START_S:
                break
            time.sleep(0.1)
        if answers:
            say(f"docker: started ({time.monotonic() - started:.1f} s)")
        else:
            log = (folder / "log").read_text(errors="replace").splitlines()
            say(
                "docker: the engine does not start; tests that need it are skipped. Its last words:"
            )
            print("\n".join(log[-5:]), flush=True)
        yield answers
    finally:
        _stop(process)
        shutil.rmtree(folder, ignore_errors=True)


def _start_docker(program: str, folder: Path) -> subprocess.Popen[bytes]:
    libc = ctypes.CDLL(None)

    def bind() -> None:
        # However this process ends, the engine ends with it.
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)

    # A pid file of its own: one that another engine left behind would keep this one from starting.
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            [program, "--pidfile", str(folder / "pid")],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=bind,  # noqa: PLW1509 - there are no threads yet
        )


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        say("docker: the engine does not end; killing it")
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


# --- images


def provide_images(needed: dict[str, list[str]]) -> None:
    """Have the images that tests need in each engine: built in one, handed on to the other."""
    has_docker = docker_answers()
    if has_docker:
        _build("docker", list(dict.fromkeys([name for names in needed.values() for name in names])))
    podman = _find("podman")
    if podman is None:
        say("podman: not installed; tests that need it are skipped")
        return
    names = needed.get("podman")
    if names and os.geteuid() == 0 and not (has_docker and _hand_on(podman, names)):
        _build("podman", names)


def provide_cluster() -> None:
    """Bring the image of Python sessions into the cluster that tests use, if there is one."""
    if not (os.environ.get(KUBECONFIG) and os.environ.get(LOAD)):
        return
    started = time.monotonic()
    command = [sys.executable, "tests/cluster_image.py", *shlex.split(os.environ[LOAD])]
    done = subprocess.run(command, cwd=ROOT, check=False)
    took = f"{time.monotonic() - started:.0f} s"
    say(f"cluster: {'has the image' if done.returncode == 0 else 'cannot get the image'} ({took})")


def _build(engine: str, images: list[str]) -> None:
    """Build images, two at a time, as most steps of a build keep one core busy."""
    started = time.monotonic()
    running: list[subprocess.Popen[bytes]] = []

    def build(image: str) -> bool:
        # What an image promises is tested by `tests/images`.
        command = [sys.executable, "-m", "llm_sandbox", "images", "build", image, "--no-smoke"]
        running.append(subprocess.Popen([*command, "--engine", engine], cwd=ROOT))
        return running[-1].wait() == 0

    with ThreadPoolExecutor(2) as lanes:
        try:
            # The others stand on the base.
            made = build("base") and all(list(lanes.map(build, images)))
        except BaseException:
            lanes.shutdown(wait=False, cancel_futures=True)
            for one in running:
                one.terminate()
            raise
    took = f"{time.monotonic() - started:.0f} s"
    if made:
        say(f"{engine}: there are the images of {', '.join(images)} ({took})")
    else:
        say(f"{engine}: not all images could be made ({took}); tests that need them are skipped")


def _hand_on(podman: str, images: list[str]) -> bool:
    """Copy Docker's images to Podman, which takes a fraction of building them again."""
    docker = _find("docker")
    names = _image_names(images)
    if docker is None or not names:
        return False
    show = ["image", "inspect", "--format", "{{.Id}}"]
    missing = []
    for name in names:
        there = _output([docker, *show, name]).removeprefix("sha256:")
        if not there:
            return False
        if there != _output([podman, *show, f"localhost/{name}"]).removeprefix("sha256:"):
            missing.append(name)
    if not missing:
        say(f"podman: there are the images of {', '.join(images)}")
        return True
    started = time.monotonic()
    with subprocess.Popen([docker, "save", *missing], stdout=subprocess.PIPE) as saved:
        loaded = subprocess.run([podman, "load", "--quiet"], stdin=saved.stdout, check=False)
    if saved.returncode or loaded.returncode:
        return False
    took = f"{time.monotonic() - started:.0f} s"
    say(f"podman: the images of {', '.join(images)} came from docker ({took})")
    return True


def _image_names(images: list[str]) -> list[str]:
    module = "llm_sandbox.backends.recipes"
    code = f"import sys; from {module} import image_name; print(*map(image_name, sys.argv[1:]))"
    return _output([sys.executable, "-c", code, *images]).split()


def _output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    return done.stdout.strip() if done.returncode == 0 else ""


# --- the command


def run(command: list[str], needed: dict[str, list[str]]) -> int:
    """Run a command with the engines and images that it needs; returns its exit code."""
    child: subprocess.Popen[bytes] | None = None

    def pass_on(number: int, frame: object) -> None:
        if child is None:
            raise SystemExit(128 + number)
        # A terminal's Ctrl-C has reached the command by itself.
        if number != signal.SIGINT and child.poll() is None:
            child.send_signal(number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, pass_on)
    with docker_engine() as started:
        provide_images(needed)
        provide_cluster()
        environment = {**os.environ, **({STARTED: "docker"} if started else {})}
        child = subprocess.Popen(command, env=environment)
        code = child.wait()
    return code if code >= 0 else 128 - code


def needs_of(arguments: list[str]) -> dict[str, list[str]]:
    """The images that the tests which pytest would choose by these arguments need, by engine."""
    if not arguments:
        # All tests need all images; to have pytest say so takes it a quarter of a minute.
        folders = sorted(path.parent.name for path in ROOT.glob("llm_sandbox/images/*/debian.txt"))
        return {**USUAL, "docker": [name for name in folders if name != "base"]}
    with tempfile.TemporaryDirectory(prefix="llm-sandbox-needs-") as folder:
        report = Path(folder, "needs.json")
        command = [sys.executable, "-m", "pytest", *arguments, "--collect-only", "-qq"]
        done = subprocess.run(
            [*command, "-p", "no:cacheprovider"],
            stdout=subprocess.DEVNULL,
            check=False,
            env={**os.environ, NEEDS: str(report)},
        )
        if report.exists():
            needs: dict[str, list[str]] = json.loads(report.read_text())
            return needs
    # 5: nothing was collected. Anything else that is wrong, the tests themselves will tell.
    return {} if done.returncode == 5 else USUAL


def status() -> None:
    """Say what there is."""
    for program in PACKAGES:
        say(f"{program}: {_find(program) or 'not installed'}")
    say(f"docker: {'answers' if docker_answers() else 'no engine answers'}")


def main(words: list[str]) -> int:
    """Entry point; returns the exit code."""
    if words == ["status"]:
        status()
        return 0
    options, split, command = words, "", []
    if "--" in words:
        at = words.index("--")
        options, split, command = words[:at], "--", words[at + 1 :]
    if not split or not command:
        print(__doc__, file=sys.stderr)
        return 2
    needed = USUAL
    if "--tests" in options:
        at = options.index("--tests")
        options, tests = options[:at], options[at + 1 :]
        needed = needs_of(tests)
        if not needed:
            os.execvp(command[0], command)
    if "--install" in options:
        install()
    return run(command, needed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
