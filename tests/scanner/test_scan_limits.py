"""Reading code is ended when it takes too long or too much memory, and is never safe then."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from llm_sandbox.exceptions import SecurityViolationError, ValidationError
from llm_sandbox.limits import Deadline
from llm_sandbox.security import RestrictedModule, SecurityPolicy, scan, scan_with
from llm_sandbox.security.scan_pool import SCAN_POOL
from llm_sandbox.session.guard import Guard
from tests.scanner.test_policies import HIGH, LOW, SAFE, Lolcode

STRICT = SecurityPolicy(
    severity_threshold=LOW,
    restricted_modules=[RestrictedModule(name="STDIO", description="m", severity=HIGH)],
)
REPORTING = STRICT.model_copy(update={"severity_threshold": SAFE})


class Tangled(Lolcode):
    """Searches by an expression that takes exponential time."""

    def get_import_patterns(self, module):
        return "(x+x+)+y"


class Greedy(Lolcode):
    """Takes more memory than there is for a scan."""

    def filter_comments(self, code):
        return code and bytes(8 << 30).decode()


class Crashing(Lolcode):
    """Ends the process."""

    def filter_comments(self, code):
        if code:
            os.abort()
        return code


class Failing(Lolcode):
    """Has a fault."""

    def filter_comments(self, code):
        return code and self.missing


def workers(of=None):
    """The processes that read code for this process, or for another."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            command = (entry / "cmdline").read_bytes()
        except (OSError, IndexError):
            continue
        if parent == (of or os.getpid()) and b"scan_worker" in command:
            found.append(int(entry.name))
    return found


def is_gone(pid):
    end = time.monotonic() + 20
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state in "ZX":
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize(
    ("reader", "code", "why"),
    [
        (Tangled(), "x" * 60, "longer than"),
        (Greedy(), "HAI", "MiB of memory"),
        (Crashing(), "HAI", f"signal {signal.SIGABRT.value}"),
        (Failing(), "HAI", "AttributeError"),
    ],
    ids=["time", "memory", "crash", "fault"],
)
def test_code_that_cannot_be_read_is_not_safe(reader, code, why):
    report = scan_with(reader, code, STRICT, timeout=5)
    assert not report.read
    assert not report.parsed
    assert not report.is_safe
    assert why in report.problem
    assert ["high"] == [finding.severity for finding in report.blocking]
    assert "not read" in report.summary
    assert "not read" in report.message_for_model()
    assert not scan_with(reader, code, REPORTING, timeout=5).is_safe
    # The control: what the handler does without that is read, and the next scan is not harmed.
    assert scan_with(Lolcode(), code, STRICT, timeout=60).is_safe
    assert scan("print(1)", policy="strict").is_safe


def test_the_report_keeps_whether_the_code_was_read():
    report = scan("x" * 2_000_001, policy="minimal")
    assert not report.read
    assert report == type(report).from_json(report.to_json())


def test_a_run_counts_the_reading_of_its_code():
    guard = Guard(STRICT, Tangled())
    started = time.monotonic()
    with pytest.raises(SecurityViolationError, match="longer than"):
        guard.admit("x" * 60, Deadline.after(1.5))
    assert time.monotonic() - started < 9, "a scan's own deadline is ten seconds"


def test_a_handler_that_cannot_be_handed_over_is_refused():
    class Local(Lolcode):
        pass

    with pytest.raises(ValidationError, match="pickle"):
        scan_with(Local(), "HAI", STRICT)


def test_the_process_has_no_rights_and_no_environment(monkeypatch):
    monkeypatch.setenv("API_KEY", "secret")
    SCAN_POOL.close()
    scan("print(1)")
    (worker,) = workers()
    status = Path(f"/proc/{worker}/status").read_text()
    assert "0" not in status.partition("Uid:")[2].split()[:4]
    variables = Path(f"/proc/{worker}/environ").read_bytes()
    assert {b"", b"LD_LIBRARY_PATH"} >= {v.partition(b"=")[0] for v in variables.split(b"\0")}
    limits = {
        line[:25].strip(): line[25:].split()[0]
        for line in Path(f"/proc/{worker}/limits").read_text().splitlines()
    }
    for name in ("Max file size", "Max core file size", "Max processes"):
        assert "0" == limits[name]
    assert int(limits["Max address space"]) < 4 << 30
    assert int(limits["Max cpu time"]) < 60
    assert os.getsid(worker) != os.getsid(0)


def test_a_process_is_kept_for_the_next_scan_and_replaced_when_it_was_killed():
    SCAN_POOL.close()
    scan("print(1)")
    before = workers()
    assert 1 == len(before)
    scan("print(2)")
    assert before == workers()
    os.kill(before[0], signal.SIGKILL)
    assert not scan("print(3)", policy="strict").is_safe, "it may have been the code that did it"
    assert scan("print(3)", policy="strict").is_safe
    assert before != workers()


def test_a_large_host_keeps_its_process_too():
    """What a process had in memory at most is told of those that it starts, too."""
    body = """
held = bytes(range(256)) * (2 << 20)
from llm_sandbox.security.scan_pool import SCAN_POOL
scan("print(1)")
before = set(SCAN_POOL._all)
scan("print(2)")
print(before == SCAN_POOL._all)
"""
    assert "True\n" == run(body).stdout


def test_threads_scan_at_once():
    codes = [f"import os\nos.system('{number}')" for number in range(40)]
    with ThreadPoolExecutor(8) as threads:
        reports = list(threads.map(lambda code: scan(code, policy="strict"), codes))
    assert [f"{n}" for n in range(40)] == [
        next(f.message.split("'")[1] for f in report.findings if f.category == "process.run")
        for report in reports
    ]
    assert len(workers()) <= 4


PROGRAM = """
import os, signal, sys, time
from llm_sandbox.security import scan
{body}
"""


def run(body, **options):
    return subprocess.run(
        [sys.executable, "-c", PROGRAM.format(body=body)],
        capture_output=True,
        text=True,
        timeout=100,
        **options,
    )


def test_nothing_is_started_before_the_first_scan():
    body = "import llm_sandbox\nprint(os.listdir('/proc/self/task') and os.system('true'))\n"
    body += "print('llm_sandbox.security.scan_pool' in sys.modules)"
    assert "0\nFalse\n" == run(body).stdout


def test_a_forked_process_has_processes_of_its_own():
    body = """
assert scan("print(1)", policy="strict").is_safe
if (pid := os.fork()) == 0:
    ok = all(scan("print(2)", policy="strict").is_safe for _ in range(5))
    from llm_sandbox.security.scan_pool import SCAN_POOL
    SCAN_POOL.close()
    os._exit(0 if ok else 3)
safe = all(scan("print(3)", policy="strict").is_safe for _ in range(5))
print(safe, os.waitpid(pid, 0)[1])
"""
    assert "True 0\n" == run(body).stdout


@pytest.mark.parametrize("how", ["SIGKILL", "SIGTERM", "exit"])
def test_the_process_ends_with_the_host(how):
    body = "scan('print(1)')\nprint('scanned', flush=True)\nsys.stdin.readline()"
    host = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(body=body)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with host:
        assert b"scanned\n" == host.stdout.readline()
        (worker,) = workers(host.pid)
        if how == "exit":
            host.stdin.write(b"\n")
        else:
            host.send_signal(getattr(signal, how))
        host.stdin.close()
        host.wait(60)
    assert is_gone(worker)
