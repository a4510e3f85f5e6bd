"""Attacks on what holds a sandbox, tried inside: what got through, as JSON.

Each names the resource or the limit that should have stopped it.
"""

import ctypes
import glob
import json
import mmap
import os
import resource
import socket
import sys
import time

MIB = 1 << 20
PROCESS_ALLOWANCE = 16  # where one count has to serve for the sandbox's own as well


def tries(call):
    try:
        return bool(call())
    except OSError:
        return False


def read(path):
    with open(path, "rb") as file:  # noqa: PTH123 - a program of its own
        return file.read()


def reach(port):
    with socket.create_connection(("127.0.0.1", port), 5) as line:
        return line.recv(10)


def see(word):
    for path in glob.glob("/proc/[0-9]*/cmdline"):  # noqa: PTH207 - a program of its own
        try:
            if word.encode() in read(path).split(b"\0"):
                return True
        except OSError:
            continue
    return False


def give_away(path):
    with open(path, "wb"):  # noqa: PTH123 - a program of its own
        os.chown(path, 12345, 12345)
    return True


def unshare():
    return ctypes.CDLL(None).unshare(0x10000000) == 0  # CLONE_NEWUSER


def walls(facts):
    return {
        "files": tries(lambda: facts["word"].encode() in read(facts["canary"])),
        "network": tries(lambda: reach(facts["port"])),
        "other_processes": see(facts["process"]),
        "privileges": tries(lambda: give_away("given")),
        "system_calls": unshare(),
    }


def fill(folder, size):
    """Whether as much fits in, in files that are no larger than one may be."""
    made = []
    try:
        for number in range(-(-size // MIB)):
            made.append(f"{folder}/filler{number}")
            with open(made[-1], "wb") as file:  # noqa: PTH123 - a program of its own
                file.write(bytes(MIB))
        return True
    except OSError:
        return False
    finally:
        for path in made:
            os.unlink(path)  # noqa: PTH108 - a program of its own


def many(folder, count):
    made = []
    try:
        for number in range(count):
            made.append(f"{folder}/many{number}")
            with open(made[-1], "wb"):  # noqa: PTH123 - a program of its own
                pass
        return True
    except OSError:
        return False
    finally:
        for path in made:
            if os.path.exists(path):  # noqa: PTH110 - a program of its own
                os.unlink(path)  # noqa: PTH108 - a program of its own


def large(path):
    try:
        with open(path, "wb") as file:  # noqa: PTH123 - a program of its own
            file.truncate(8 * MIB)
        return True
    finally:
        os.unlink(path)  # noqa: PTH108 - a program of its own


def processes(most):
    """How many more than that can be alive at once."""
    started = []
    try:
        for _ in range(most + PROCESS_ALLOWANCE + 20):
            child = os.fork()
            if child == 0:
                time.sleep(60)
                os._exit(0)
            started.append(child)
    except OSError:
        pass
    for child in started:
        os.kill(child, 9)
        os.waitpid(child, 0)
    return len(started) > most + PROCESS_ALLOWANCE


def counts(facts):
    handles = []

    def open_many():
        while len(handles) < 200:
            handles.append(os.dup(1))
        return True

    opened = tries(open_many)
    for handle in handles:
        os.close(handle)
    return {
        "open_files": opened,
        "processes": processes(24),
        "workdir_bytes": fill(".", 6 * MIB),
        "tmp_bytes": fill("/tmp", 6 * MIB),
        "shm_bytes": fill("/dev/shm", 6 * MIB),
        "inodes": many(".", 300),
        "file_size_bytes": tries(lambda: large("large")),
    }


def memory_bytes(facts):
    """Shared memory, which counts against no limit of a single program."""
    shared = mmap.mmap(-1, 400 * MIB)
    for at in range(0, 400 * MIB, 4096):
        shared[at] = 1
    print("all of it")


def cpus(facts):
    """Whether two that compute have clearly more of the time than half a processor."""
    began = time.monotonic()
    children = []
    for _ in range(2):
        child = os.fork()
        if child == 0:
            while time.monotonic() < began + 1.0:
                pass
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"cpus": (used.ru_utime + used.ru_stime) / (time.monotonic() - began) > 0.9}


found = globals()[sys.argv[1]](json.loads(sys.argv[2]))
if found is not None:
    print(json.dumps(found))
