"""Podman services: one that this process starts, or one of another machine over ssh."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult

from llm_sandbox.backends.podman.background_process import BackgroundProcess
from llm_sandbox.backends.podman.probe_cache import file_identity, load_result, store_result
from llm_sandbox.exceptions import BackendUnavailableError

__all__ = ["Service", "find_podman", "open_tunnel", "start_service"]

_SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin"
_RUNTIMES = ("crun", "runc")
_RUNTIME_FOLDERS = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PROBE_S = 60
_START_S = 30.0
_SOCKET = "podman.sock"
_NO_PROGRAM = "llm-sandbox-probe"


@dataclass(frozen=True)
class Service:
    """A service that this process started."""

    process: BackgroundProcess
    """Its process."""
    address: str
    """Address at which it listens."""
    identity: object
    """Key of cached results; equal for services of the same programs."""


def find_podman() -> str | None:
    """Return the path of the program; None if it is not installed."""
    return shutil.which("podman", path=os.environ.get("PATH") or _SEARCH_PATH)


def start_service(podman: str) -> Service:
    """Start a service that only this user can reach, and that ends with this process.

    Args:
        podman: Path of the program.

    Raises:
        BackendUnavailableError: It does not start, or can start no container here.
    """
    found = {name: shutil.which(name, path=_RUNTIME_FOLDERS) for name in _RUNTIMES}
    programs = {name: path for name, path in found.items() if path}
    flags = _runtime_flags(podman, programs)

    def command(folder: Path) -> list[str]:
        address = f"unix://{folder}/{_SOCKET}"
        return [podman, *flags, "system", "service", "--time=0", address]

    try:
        process = BackgroundProcess(command, "podman")
    except OSError as error:
        raise _unavailable(f"{podman} does not run: {error}") from None
    path = process.folder / _SOCKET
    if not process.wait_until(lambda: _listens(path), _START_S):
        words = process.words
        process.close()
        raise _unavailable(f"`podman system service` does not start: {words}")
    return Service(process, f"unix://{path}", (flags, _stamps(podman, programs)))


def _listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
        return True


def _runtime_flags(podman: str, programs: Mapping[str, str]) -> list[str]:
    """Return the flags with which containers start: none if Podman's default runtime works."""
    candidates = [[], *(["--runtime", path] for path in programs.values())]
    subject = ("runtime", _stamps(podman, programs))
    known = load_result(subject)
    if known in candidates:
        return list(known)
    complaints = []
    for flags in candidates:
        complaint = _probe(podman, flags)
        if complaint is None:
            store_result(subject, flags)
            return flags
        complaints.append(f"{flags[-1] if flags else 'podman'}: {complaint}")
    raise _unavailable("podman starts no container here: " + "; ".join(complaints))


def _stamps(podman: str, programs: Mapping[str, str]) -> list[list[object]]:
    return [file_identity(path) for path in (podman, *programs.values())]


def _probe(podman: str, flags: list[str]) -> str | None:
    """Return what is wrong with a container runtime; None if it starts containers.

    It has to start a missing program in an empty root: it reports that program by name once the
    container is set up.
    """
    with tempfile.TemporaryDirectory(prefix="llm-sandbox-probe-") as root:
        # With limits, as Podman's defaults may exceed those of this process.
        command = [podman, *flags, "run", "--rm", "--network=none", "--log-driver=none"]
        command += ["--ulimit=nofile=64:64", "--ulimit=nproc=64:64"]
        command += ["--rootfs", root, f"/{_NO_PROGRAM}"]
        try:
            done = subprocess.run(
                command,
                check=False,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_PROBE_S,
            )
        except (OSError, subprocess.SubprocessError) as error:
            return str(error)
    if done.returncode == 127 and _NO_PROGRAM in done.stderr:
        return None
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else f"status {done.returncode}"


def _unavailable(reason: str) -> BackendUnavailableError:
    return BackendUnavailableError(
        f"the podman engine cannot be used: {reason}",
        backend="podman",
        hint="see what it says: podman run --rm --network=none IMAGE true",
    )


_OPEN_S = 60.0
_DEFAULT_SOCKET = "/run/podman/podman.sock"


def open_tunnel(url: SplitResult, identity: str | None = None) -> tuple[BackgroundProcess, str]:
    """Forward the socket of another machine's service to a local one.

    ssh prompts for nothing: keys, known hosts and passphrases come from its files or an agent.

    Args:
        url: Such as ``ssh://user@host:22/run/podman/podman.sock``.
        identity: File with the private key; None for what ssh finds.

    Returns:
        The process of the tunnel, and the address of the local socket.

    Raises:
        BackendUnavailableError: There is no ssh, or it does not reach the machine.
    """
    ssh = shutil.which("ssh")
    if ssh is None:
        raise _unreachable(url, "ssh is not installed", hint="apt-get install openssh-client")
    program = ssh
    there = url.path or _DEFAULT_SOCKET
    user = [] if url.username is None else ["-l", url.username]
    port = [] if url.port is None else ["-p", str(url.port)]
    key = [] if not identity else ["-i", str(Path(identity).expanduser())]

    def command(folder: Path) -> list[str]:
        options = ["-o", "BatchMode=yes", "-o", "ExitOnForwardFailure=yes"]
        options += ["-o", "ServerAliveInterval=15"]
        forward = ["-N", "-L", f"{folder}/podman.sock:{there}"]
        return [program, *options, *port, *user, *key, *forward, "--", url.hostname or ""]

    tunnel = BackgroundProcess(command, "ssh")
    path = tunnel.folder / "podman.sock"
    if not tunnel.wait_until(path.exists, _OPEN_S):
        words = tunnel.words or f"no answer in {_OPEN_S:.0f} s"
        tunnel.close()
        raise _unreachable(url, words, hint=f"try: ssh {url.hostname} podman info")
    return tunnel, f"unix://{path}"


def _unreachable(url: SplitResult, reason: str, hint: str) -> BackendUnavailableError:
    return BackendUnavailableError(
        f"the podman engine at {url.hostname} does not answer: {reason}",
        backend="podman",
        hint=hint,
    )
