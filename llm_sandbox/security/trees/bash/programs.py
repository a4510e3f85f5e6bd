"""What programs that shells start do, by name. Of most programs nothing is said."""

from llm_sandbox.results.findings import Capability

__all__ = [
    "INTERPRETERS",
    "LOADED",
    "PREFIXES",
    "PROGRAMS",
    "SHELLS",
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
"""Programs of which any use does it."""

SHELLS = frozenset(("ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "rbash", "sh", "zsh"))
"""Programs that read shell code."""

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
"""Programs that read code of another language, and that language where it can be read."""

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
"""Variables that decide what programs load."""
