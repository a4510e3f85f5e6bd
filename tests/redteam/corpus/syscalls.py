# Makes system calls that a sandbox refuses, with arguments that do no harm where they are not
# refused (paths that do not exist, bad magic numbers, null pointers), each in a child of its own. Prints name -> errno name, "ok" or how the child ended.
import ctypes
import errno
import json
import os
import signal

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
BUFFER = ctypes.create_string_buffer(4096)
NEW = {"NEWTIME": 0x80, "NEWNS": 0x20000, "NEWCGROUP": 0x2000000, "NEWUTS": 0x4000000,
       "NEWIPC": 0x8000000, "NEWUSER": 0x10000000, "NEWPID": 0x20000000, "NEWNET": 0x40000000}
CALLS = {
    "add_key": (248, b"user", b"redteam", b"x", 1, -2),
    "bpf": (321, 999, BUFFER, 8),
    "chroot": (161, b"/"),
    "clone3": (435, BUFFER, 0),
    "delete_module": (176, b"redteam_none", 0),
    "fanotify_init": (300, 0xFFFF, 0),
    "finit_module": (313, -1, b"", 0),
    "fsopen": (430, b"tmpfs", 0),
    "get_mempolicy": (239, 0, 0, 0, 0, 0),
    "init_module": (175, 0, 0, b""),
    "io_uring_setup": (425, 1, BUFFER),
    "ioperm": (173, 0x400000, 1, 1),
    "iopl": (172, 9),
    "kcmp": (312, os.getpid(), os.getpid(), 0, 0, 1),
    "kexec_load": (246, 0, 1000, 0, 0),
    "keyctl": (250, 0, -3, 0),
    "listmount": (458, BUFFER, BUFFER, 0, 0),
    "memfd_secret": (447, 0),
    "mknod_block": (133, b"/", 0o60600, 0x700),
    "mknod_char": (133, b"/", 0o20600, 0x103),
    "modify_ldt": (154, 0, BUFFER, 16),
    "mount": (165, b"none", b"/nowhere", b"none", 0, 0),
    "mount_setattr": (442, -100, b"/", 0, BUFFER, 32),
    "move_mount": (429, -1, b"", -1, b"", 0),
    "name_to_handle_at": (303, -100, b"/", BUFFER, BUFFER, 0),
    "open_by_handle_at": (304, -100, BUFFER, 0),
    "open_tree": (428, -100, b"/", 0),
    "perf_event_open": (298, BUFFER, 0, -1, -1, 0),
    "personality": (135, 0x0040000),
    "pidfd_getfd": (438, -1, 0, 0),
    "pivot_root": (155, b"/nowhere", b"/nowhere"),
    "process_vm_readv_own": (310, os.getpid(), 0, 0, 0, 0, 0),
    "ptrace_traceme": (101, 0, 0, 0, 0),
    "quotactl": (179, 0x80000100, 0, 0, 0),
    "reboot": (169, 0, 0, 0, 0),
    "request_key": (249, b"user", b"redteam-none", 0, 0),
    "sethostname": (170, b"x", -1),
    "setns": (308, -1, 0),
    "statmount": (457, BUFFER, BUFFER, 0, 0),
    "swapon": (167, 0, 0),
    "syslog": (103, 10, 0, 0),
    "umount2": (166, b"/nowhere", 0),
    "userfaultfd": (323, 1),
    "vhangup": None,
}
CALLS.pop("vhangup")  # it would hang up the control's terminal
for name, flag in NEW.items():
    CALLS[f"unshare_{name}"] = (272, flag)
    CALLS[f"clone_{name}"] = (56, flag | signal.SIGCHLD, 0, 0, 0, 0)
for number in (471, 480, 511, 600):
    CALLS[f"number_{number}"] = (number, 0)


def call(number, *arguments):
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *words)
    if number == 56 and result == 0:
        os._exit(0)  # the clone
    return "ok" if result >= 0 else errno.errorcode.get(ctypes.get_errno(), "?")


def in_child(action):
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            signal.alarm(5)
            os.write(write, str(action()).encode())
        finally:
            os._exit(0)
    os.close(write)
    said = b""
    while data := os.read(read, 4096):
        said += data
    os.close(read)
    _, status = os.waitpid(pid, 0)
    return said.decode() or f"status {status}"


answers = {name: in_child(lambda w=words: call(*w)) for name, words in CALLS.items()}


def attach(pid):
    result = call(101, 0x4206, pid, 0, 0)  # PTRACE_SEIZE
    if result == "ok":
        call(101, 17, pid, 0, 0)
    return result


def tiocsti():
    import fcntl
    import pty
    import termios

    near, far = pty.openpty()
    os.setsid()
    fcntl.ioctl(far, termios.TIOCSCTTY, 0)
    try:
        fcntl.ioctl(far, termios.TIOCSTI, b"x")
    except OSError as error:
        return errno.errorcode[error.errno]
    return "ok"


def tioclinux():
    import fcntl
    import pty

    near, far = pty.openpty()
    try:
        fcntl.ioctl(far, 0x541C, b"\x02")
    except OSError as error:
        return errno.errorcode[error.errno]
    return "ok"


def read_memory(pid):
    try:
        with open(f"/proc/{pid}/mem", "rb"):
            return "ok"
    except OSError as error:
        return errno.errorcode[error.errno]


def sibling(action):
    pid = os.fork()
    if pid == 0:
        signal.pause()
    try:
        return in_child(lambda: action(pid))
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


if not ARGUMENTS.get("on_host"):
    answers["ptrace_init"] = in_child(lambda: attach(1))
answers["ptrace_sibling"] = sibling(attach)
if not ARGUMENTS.get("on_host"):
    answers["memory_of_init"] = in_child(lambda: read_memory(1))
answers["memory_of_sibling"] = sibling(read_memory)
answers["tiocsti"] = in_child(tiocsti)
answers["tioclinux"] = in_child(tioclinux)
for name in ("setuid", "setgid", "seteuid"):
    def become(function=getattr(os, name)):
        try:
            function(0)
        except OSError as error:
            return errno.errorcode[error.errno]
        return "ok"
    answers[name] = in_child(become)
lines = open("/proc/self/status").read().splitlines()
status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
answers["status"] = {k: status[k] for k in
                     ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp")}
mounts = [line.split() for line in open("/proc/self/mountinfo")]
answers["suid_mounts"] = [w[4] for w in mounts if "nosuid" not in w[5].split(",")]
print(json.dumps(answers))
