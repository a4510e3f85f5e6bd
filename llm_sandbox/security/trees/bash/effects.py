"""What a program does that is started with some arguments."""

import re
from collections.abc import Sequence

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.trees.bash.programs import PROGRAMS

__all__ = ["program_effect"]


_REMOTE = re.compile(r"[^/]*:|rsync://")
_READS_PROGRAM = re.compile(r"\|\s*getline")
_UPLOADS = frozenset(("--form", "--upload-file", "-F", "-T"))
_TRANSFERS = ("ftp://", "scp://", "sftp://")
# Programs that do something of note only with one of these arguments.
_WITH: dict[str, tuple[Capability, frozenset[str]]] = {
    "az": (Capability.NETWORK_TRANSFER, frozenset(("storage",))),
    "aws": (Capability.NETWORK_TRANSFER, frozenset(("s3", "s3api", "ssm", "sts", "iam", "ec2"))),
    "git": (
        Capability.NETWORK_WEB,
        frozenset(("clone", "fetch", "ls-remote", "pull", "push")),
    ),
    "openssl": (Capability.NETWORK_SOCKET, frozenset(("s_client", "s_server"))),
    "systemctl": (Capability.PERSISTENCE, frozenset(("daemon-reload", "enable", "link"))),
}


def program_effect(program: str, arguments: Sequence[str]) -> Capability | None:
    """Return what a program does by its name and arguments; None when that is nothing of note.

    Args:
        program: Its name without a path.
        arguments: Those that are known.
    """
    if program in _WITH:
        capability, words = _WITH[program]
        return capability if words & set(arguments[:4]) else None
    if program.startswith("mkfs."):
        return Capability.FILE_DELETE
    if (program == "crontab" and "-l" in arguments) or (program == "mount" and not arguments):
        return None
    if program in {"awk", "gawk", "mawk"}:
        runs = any("system(" in word or _READS_PROGRAM.search(word) for word in arguments)
        return Capability.PROCESS_RUN if runs else None
    if program == "curl":
        sends = bool(_UPLOADS & set(arguments))
        sends = sends or any(word.startswith(_TRANSFERS) for word in arguments)
        return Capability.NETWORK_TRANSFER if sends else Capability.NETWORK_WEB
    if program == "rsync":
        remote = any(_REMOTE.match(word) for word in arguments)
        return Capability.NETWORK_TRANSFER if remote else None
    return PROGRAMS.get(program)
