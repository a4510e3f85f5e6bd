# Tries what a container's walls should stop, and prints what came of it: "ok" or an errno's name.
import ctypes, errno, json, os, socket

libc = ctypes.CDLL(None, use_errno=True)
found = {}


def attempt(name):
    def run(action):
        try:
            action()
            found[name] = "ok"
        except OSError as error:
            found[name] = errno.errorcode.get(error.errno, str(error))
    return run


def libc_call(name, *arguments):
    if getattr(libc, name)(*arguments) == -1:
        raise OSError(ctypes.get_errno(), name)


def write(path):
    with open(path, "w") as file:
        file.write("x")
    os.unlink(path)


attempt("write /")(lambda: write("/written"))
attempt("write /usr/bin")(lambda: write("/usr/bin/written"))
attempt("write /etc")(lambda: write("/etc/written"))
attempt("write /dev")(lambda: write("/dev/written"))
attempt("read shadow")(lambda: open("/etc/shadow").close())
attempt("become root")(lambda: os.setuid(0))
attempt("kill process 1")(lambda: os.kill(1, 0))
attempt("read process 1")(lambda: open("/proc/1/environ", "rb").read())
attempt("memory of process 1")(lambda: open("/proc/1/mem", "rb").close())
attempt("output of process 1")(lambda: os.close(os.open("/proc/1/fd/1", os.O_WRONLY)))
attempt("set a kernel parameter")(lambda: os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY)))
attempt("mount")(lambda: libc_call("mount", b"none", b"/tmp", b"tmpfs", 0, b""))
attempt("user namespace")(lambda: libc_call("unshare", 0x10000000))
attempt("net namespace")(lambda: libc_call("unshare", 0x40000000))
attempt("device")(lambda: os.mknod("/tmp/zero", 0o20666, os.makedev(1, 5)))
attempt("packets")(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close())
attempt("raw internet")(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).close())
attempt("virtual machine sockets")(lambda: socket.socket(40, socket.SOCK_STREAM, 0).close())
attempt("audit")(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 9).close())
attempt("route")(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).close())
attempt("reach outside")(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("192.0.2.1", 9)))
interfaces = sorted(name for _, name in socket.if_nameindex())
status = dict(line.rstrip("\n").split(":\t", 1) for line in open("/proc/self/status") if ":\t" in line)
mounts = {line.split()[1]: line.split()[2:4] for line in open("/proc/mounts")}
attempt("chroot")(lambda: os.chroot("/tmp"))  # last: nothing is found any more where it worked
print(json.dumps({"found": found, "interfaces": interfaces, "status": status, "mounts": mounts, "ids": [os.getuid(), os.getgid(), os.getgroups()]}))
