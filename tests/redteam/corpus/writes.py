# Tries to create or change files everywhere but where it may. ARGUMENTS: name, more.
import json
import os

name = ARGUMENTS["name"]
written = []
for folder in [
    "/", "/usr", "/usr/bin", "/usr/lib", "/etc", "/opt", "/opt/python", "/opt/env", "/opt/layers",
    "/opt/llm_sandbox/guest", "/dev", "/proc", "/proc/sys", "/sys", "/var", "/home", "/root", "/mnt",
    "/run", "/bin", "/lib", *ARGUMENTS.get("more", []),
]:
    path = os.path.join(folder, name)
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        written.append(folder)
        os.unlink(path)
    except OSError:
        pass
# Opened only: nothing is changed where it works.
for path in [
    "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/vm/overcommit_memory",
    "/proc/sys/kernel/hostname", "/proc/sys/net/ipv4/ip_forward", "/proc/sys/user/max_user_namespaces",
    "/proc/sysrq-trigger", "/proc/kcore", "/proc/kmsg", "/sys/kernel/uevent_helper",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes", "/etc/passwd", "/etc/hosts", "/usr/bin/env",
    "/dev/mem", "/dev/kmsg", "/dev/vda", "/dev/sda", "/dev/loop-control", "/dev/fuse", "/dev/kvm",
]:
    try:
        os.close(os.open(path, os.O_WRONLY))
        written.append(path)
    except OSError:
        pass
print(json.dumps({"written": written}))
