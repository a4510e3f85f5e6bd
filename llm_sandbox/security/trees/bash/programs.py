"""Programs that shells start: their effects by name, arguments and files.

Most programs have no effect in these tables.
"""

import re
from collections.abc import Iterator, Sequence

from llm_sandbox.results.findings import Capability, Confidence
from llm_sandbox.security.sensitive_text import is_outside

__all__ = [
    "INTERPRETERS",
    "LOADED",
    "PREFIXES",
    "PROGRAMS",
    "SHELLS",
    "after_prefix",
    "file_effects",
    "program_effect",
]


def _table(groups: dict[Capability, str]) -> dict[str, Capability]:
    return {name: capability for capability, names in groups.items() for name in names.split()}


PROGRAMS = _table(
    {
        Capability.PROCESS_RUN: "chroot crictl ctr doas docker kubectl lxc machinectl mount "
        "nerdctl nsenter pivot_root pkexec podman runc runuser sg su sudo systemd-run umount "
        "unshare virsh",
        Capability.PROCESS_SIGNAL: "killall pkill skill xkill fuser",
        Capability.NETWORK_SOCKET: "dig host nc nc.openbsd nc.traditional ncat netcat nmap "
        "nslookup ping socat tcpdump telnet traceroute websocat chisel ngrok cloudflared",
        Capability.NETWORK_WEB: "aria2c axel curl fetch http https httpie links lynx w3m wget "
        "youtube-dl yt-dlp",
        Capability.NETWORK_TRANSFER: "ftp lftp mail mailx msmtp mutt ncftp rclone s3cmd scp "
        "sendmail sftp ssh sshpass swaks tftp gsutil azcopy croc",
        Capability.NATIVE: "bpftool bpftrace gcore gdb insmod kexec kmod lldb ltrace modprobe "
        "perf rmmod strace",
        Capability.FILE_DELETE: "shred srm wipe wipefs mkfs mke2fs mkswap blkdiscard",
        Capability.PERSISTENCE: "at batch crontab update-rc.d chkconfig launchctl",
        Capability.ENVIRONMENT: "printenv",
        Capability.FILE_PERMISSION: "setcap setfacl chattr",
        Capability.MINING: "xmrig minerd cpuminer ccminer ethminer cgminer bfgminer t-rex nbminer",
    }
)
"""Programs by the capability of any use."""

SHELLS = frozenset(("ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "rbash", "sh", "zsh"))
"""Programs that run shell code."""

INTERPRETERS = {
    "lua": "",
    "node": "javascript",
    "nodejs": "javascript",
    "osascript": "",
    "perl": "",
    "php": "",
    "python": "python",
    "python2": "python",
    "python3": "python",
    "ruby": "ruby",
    "Rscript": "r",
    "R": "r",
}
"""Programs that run code of another language, with that language where it is supported."""

PREFIXES = {
    "builtin": "",
    "busybox": "",
    "chroot": "*",
    "chrt": "*",
    "command": "",
    "coproc": "",
    "doas": "-u",
    "env": "-u -C -S",
    "eatmydata": "",
    "exec": "-a",
    "firejail": "",
    "flock": "*",
    "ionice": "-c -n -p",
    "nice": "-n",
    "nohup": "",
    "parallel": "-j",
    "proxychains": "",
    "setarch": "*",
    "setsid": "",
    "stdbuf": "-i -o -e",
    "strace": "-o -e -p",
    "sudo": "-u -g -p -C -h -U",
    "time": "-f -o",
    "timeout": "*-k -s",
    "torsocks": "",
    "unbuffer": "",
    "watch": "-n",
    "xargs": "-I -n -P -d -L -a -s -E",
}
"""Programs that start the one that their arguments name: their options that take a value, and a
star where another argument stands before the program."""

LOADED = {
    "BASH_ENV": Capability.ENVIRONMENT,
    "DYLD_INSERT_LIBRARIES": Capability.NATIVE,
    "ENV": Capability.ENVIRONMENT,
    "LD_AUDIT": Capability.NATIVE,
    "LD_LIBRARY_PATH": Capability.ENVIRONMENT,
    "LD_PRELOAD": Capability.NATIVE,
    "PATH": Capability.ENVIRONMENT,
    "PROMPT_COMMAND": Capability.PERSISTENCE,
    "PYTHONPATH": Capability.ENVIRONMENT,
    "PYTHONSTARTUP": Capability.ENVIRONMENT,
}
"""Variables that determine files which programs load."""


def after_prefix(program: str, argv: Sequence[str | None]) -> list[str | None]:
    """Return the command that a program such as `timeout` starts."""
    takes = PREFIXES[program]
    at, operands = 1, 1 if takes.startswith("*") else 0
    options = takes.lstrip("*").split()
    while at < len(argv):
        word = argv[at]
        if word is None:
            break
        if word == "--":
            at += 1
            break
        if word.startswith("-") and len(word) > 1:
            at += 2 if word in options else 1
        elif "=" in word and program in {"env", "sudo", "command"}:
            at += 1
        elif operands:
            operands -= 1
            at += 1
        else:
            break
    return list(argv[at:])


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
    """Return the capability of a program with its arguments; None for a harmless one.

    Args:
        program: Name of the program without a path.
        arguments: Known arguments.
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


_Act = tuple[Capability, Confidence, str]
_SETUID = re.compile(r"[ugoa]*\+[rwx]*s|[2467][0-7]{3}|0[2467][0-7]{3}")
_EVERYTHING = frozenset(("*", ".", "..", "./*", ".*", "../*", "~", "$HOME", "/", "/*"))
_LARGE = re.compile(r"(\d+)\s*([KMGTP]?)(?:i?B)?\Z", re.IGNORECASE)
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50}
_HUGE = 10 * 2**30


def file_effects(program: str, argv: Sequence[str | None]) -> Iterator[_Act]:
    """Yield the effects of a command on files outside the working directory.

    Args:
        program: Name of the program.
        argv: Name and arguments of the program; None for unknown ones.
    """
    words = [word for word in argv[1:] if word is not None]
    paths = [word for word in words if not word.startswith("-")]
    options = [word for word in words if word.startswith("-")]
    if program in {"rm", "rmdir", "unlink"}:
        yield from _removed(paths, options)
    elif program == "find":
        deletes = "-delete" in options or "rm" in paths
        if deletes and paths and is_outside(paths[0]):
            yield Capability.FILE_DELETE, "high", paths[0]
    elif program in {"chmod", "chown", "chgrp"}:
        yield from _opened(program, paths)
    elif program == "dd":
        yield from _copied(words)
    else:
        for path in _written(program, paths, options):
            if is_outside(path):
                yield Capability.FILE_WRITE, "high", path
    if program in {"fallocate", "truncate", "head"}:
        for word in words:
            if _size(word.lstrip("-lsc")) > _HUGE:
                yield Capability.RESOURCE, "high", word


def _written(program: str, paths: list[str], options: list[str]) -> list[str]:
    if program in {"cp", "install", "ln", "mv", "rsync", "scp"}:
        return paths[1:][-1:]
    if program in {"tee", "touch", "mkdir", "truncate", "mkfifo", "mknod"}:
        return paths
    if program == "sed" and any(option.startswith(("-i", "--in-place")) for option in options):
        return paths[1:]
    return []


def _removed(paths: list[str], options: list[str]) -> Iterator[_Act]:
    forced = any(set(option) & set("rRf") for option in options if not option.startswith("--"))
    forced = forced or bool({"--recursive", "--force", "--no-preserve-root"} & set(options))
    for path in paths:
        if is_outside(path) or (forced and path in _EVERYTHING):
            yield Capability.FILE_DELETE, "high", path


def _opened(program: str, paths: list[str]) -> Iterator[_Act]:
    if program == "chmod" and paths and _SETUID.fullmatch(paths[0]):
        yield Capability.FILE_PERMISSION, "high", f"{program} {paths[0]}"
        return
    for path in paths[1:]:
        if is_outside(path):
            yield Capability.FILE_PERMISSION, "high", path


def _copied(words: list[str]) -> Iterator[_Act]:
    given = dict(word.split("=", 1) for word in words if "=" in word)
    target = given.get("of", "")
    if target.startswith("/dev/") and is_outside(target):
        yield Capability.FILE_DELETE, "high", target
    elif target and is_outside(target):
        yield Capability.FILE_WRITE, "high", target
    endless = given.get("if", "") in {"/dev/zero", "/dev/urandom", "/dev/random"}
    if endless and target and "count" not in given:
        yield Capability.RESOURCE, "high", target


def _size(word: str) -> int:
    found = _LARGE.match(word)
    return int(found[1][:18]) * _UNITS[found[2].lower()] if found else 0
