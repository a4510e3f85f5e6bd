"""Runs programs one by one, each in a process of its own, and writes down which audit event came.

Goes into the sandbox as it is: reads ``snippets.json`` there, writes ``verdicts.json``. An event
that was waited for ends the process before the act itself happens.
"""

# ruff: noqa: PTH102, PTH123
# Because: it loads as little as it can beside what the programs load.

import atexit
import builtins
import contextlib
import gc
import json
import os
import select
import signal
import sys
import threading
import time
import types

WATCHED = (
    "os.system", "subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn",
    "pty.spawn", "os.kill", "os.killpg", "signal.pthread_kill", "socket.connect",
    "socket.getaddrinfo", "socket.gethostbyname", "socket.bind", "urllib.Request",
    "http.client.connect", "ftplib.connect", "smtplib.connect", "poplib.connect", "imaplib.open",
    "shutil.rmtree", "os.remove", "os.rmdir", "os.chmod", "os.chown", "ctypes.dlopen",
    "ctypes.string_at", "pickle.find_class", "os.putenv", "os.unsetenv", "gc.get_objects",
    "gc.get_referrers",
)  # fmt: skip
"""Events of which a harmless program raises none."""
TIMEOUT = 10
NAME = "<program>"


def described(values):
    """Return an event's arguments as text; of code its names only, which strings in it are not."""
    words = []
    for value in values:
        if hasattr(value, "co_names"):
            if value.co_filename != NAME:
                words.append(repr(value.co_names))
        else:
            words.append(repr(value))
    return " ".join(words)


def watch(snippet, tell):
    """Install the hook that ends this process at the event."""
    events, needle = set(snippet["events"]), snippet["needle"]
    watched = set() if events else set(WATCHED)
    busy = threading.local()

    def hook(event, values):
        if (event not in events and event not in watched) or getattr(busy, "on", False):
            return
        busy.on = True
        try:
            text = described(values)
            own = event == "exec" and not text
            if not own and needle in text:
                tell(event, text)
        finally:
            busy.on = False

    sys.addaudithook(hook)


def child(snippet, pipe):
    """Run one program, and never return."""
    folder = f"work{os.getpid()}"
    os.mkdir(folder)
    os.chdir(folder)
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)

    def tell(event, text):
        os.write(pipe, json.dumps([event, text[:200]]).encode())
        os._exit(0)

    main = sys.modules["__main__"] = types.ModuleType("__main__")
    space = main.__dict__
    space["__builtins__"] = builtins
    problem = ""
    try:
        if snippet["notebook"]:
            from IPython.core.interactiveshell import InteractiveShell

            shell = InteractiveShell.instance(user_module=None)
            shell.history_manager.enabled = False
            watch(snippet, tell)
            result = shell.run_cell(snippet["code"])
            problem = repr(result.error_before_exec or result.error_in_exec or "")
        else:
            program = compile(snippet["code"], NAME, "exec")
            watch(snippet, tell)
            exec(program, space)
        threading._shutdown()
        atexit._run_exitfuncs()
        gc.collect()
    except BaseException as error:  # noqa: BLE001 - a program may end in any way
        problem = repr(error)
    os.write(pipe, json.dumps(["", problem[:300]]).encode())
    os._exit(0)


def run(snippet):
    """Return the event that came and its text, or an empty name and the error."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        os.setsid()
        child(snippet, writer)
    os.close(writer)
    ready, _, _ = select.select([reader], [], [], TIMEOUT)
    data = os.read(reader, 65536) if ready else b'["", "timeout"]'
    os.close(reader)
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return json.loads(data or b'["", "ended without a word"]')


def main():
    import asyncio, base64, cProfile, code, concurrent.futures, contextlib, ctypes, dataclasses  # noqa: E401, F401, I001
    import doctest, ftplib, functools, http.client, imaplib, importlib.util, inspect, io, logging  # noqa: E401, F401
    import logging.handlers, marshal, math, operator, pathlib, pickle, pkgutil, poplib, profile  # noqa: E401, F401
    import pty, pydoc, random, runpy, sched, shutil, smtplib, socket, socketserver, sqlite3  # noqa: E401, F401
    import statistics, string, subprocess, tempfile, textwrap, timeit, trace, typing, unittest  # noqa: E401, F401
    import urllib.parse, urllib.request, zipfile, zlib  # noqa: E401, F401

    with open("snippets.json") as file:
        snippets = json.load(file)
    if any(snippet["notebook"] for snippet in snippets):
        import IPython.core.interactiveshell  # noqa: F401
    started = time.monotonic()
    gc.freeze()
    verdicts = [run(snippet) for snippet in snippets]
    with open("verdicts.json", "w") as file:
        json.dump({"seconds": time.monotonic() - started, "verdicts": verdicts}, file)


if __name__ == "__main__":
    main()
