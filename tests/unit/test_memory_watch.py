"""The supervisor's view of its machines' memory, where no control group limits it."""

import os
import subprocess
import sys
from pathlib import Path

from llm_sandbox.guest import memory, process_tree
from llm_sandbox.guest.process_tree import process_numbers

OWN = str(Path("/proc/self/ns/pid").readlink())


def test_processes_are_told_apart_by_their_namespace():
    found = process_numbers([OWN, "pid:[1]"])

    assert os.getpid() in found[OWN]
    assert found["pid:[1]"] == []
    assert os.getpid() in process_numbers([None])[None]


def test_the_machines_over_their_limits_are_named():
    child = subprocess.Popen(
        [sys.executable, "-c", "x = b'x' * (64 << 20); input()"], stdin=subprocess.PIPE
    )
    try:
        limits = {"small": (OWN, 1 << 20), "large": (OWN, 1 << 50), "empty": ("pid:[1]", 0)}
        assert memory.over_limit(limits) == ["small"]
    finally:
        child.communicate(b"\n")


def test_the_process_table_is_read_once_for_all_machines(monkeypatch):
    """With one reading for each, many idle machines kept the supervisor at work for good."""
    read = []
    listdir = os.listdir
    monkeypatch.setattr(process_tree.os, "listdir", lambda path: read.append(path) or listdir(path))

    memory.over_limit({f"machine {n}": (f"pid:[{n}]", 1 << 40) for n in range(500)})

    assert read == ["/proc"]
