"""A Podman service on another machine, reached over ssh."""

import shutil
from pathlib import Path
from urllib.parse import SplitResult

from llm_sandbox.backends.podman.background_process import BackgroundProcess
from llm_sandbox.exceptions import BackendUnavailableError

__all__ = ["open_tunnel"]

_OPEN_S = 60.0
_DEFAULT_SOCKET = "/run/podman/podman.sock"


def open_tunnel(url: SplitResult, identity: str | None = None) -> tuple[BackgroundProcess, str]:
    """Carry the socket of another machine's service to one of this machine's.

    ssh asks nothing: keys, known hosts and passphrases are settled beforehand, or by an agent.

    Args:
        url: Such as ``ssh://user@host:22/run/podman/podman.sock``.
        identity: File with the private key; None for what ssh finds.

    Returns:
        What holds the connection, and the address of the socket here.

    Raises:
        BackendUnavailableError: There is no ssh, or it does not reach the machine.
    """
    ssh = shutil.which("ssh")
    if ssh is None:
        raise _unavailable(url, "ssh is not installed", hint="apt-get install openssh-client")
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
        raise _unavailable(url, words, hint=f"try: ssh {url.hostname} podman info")
    return tunnel, f"unix://{path}"


def _unavailable(url: SplitResult, reason: str, hint: str) -> BackendUnavailableError:
    return BackendUnavailableError(
        f"the podman engine at {url.hostname} does not answer: {reason}",
        backend="podman",
        hint=hint,
    )
