"""Observations come from inside: what code forges is checked, bounded, or passed over."""

import pytest

from llm_sandbox import create_session
from llm_sandbox.const import RunStatus
from llm_sandbox.guest.audit_events import MAX_OBSERVATIONS, MAX_SUBJECT
from llm_sandbox.kernel.output_buffer import ObservationLog
from llm_sandbox.results.findings import Observation

FORGERY = """
get_ipython().kernel.observer.drain = lambda: {report}
"""


@pytest.fixture
def session():
    with create_session(lang="python") as opened:
        yield opened


def test_a_forged_report_is_bounded(session):
    report = (
        "[['os.system', 'process.run', str(n) * 1000, 10 ** 15] for n in range(1000)]"
        " + [['os.system', 'no.such', '', 1], ['made.up', 'process.run', '', 1], [], 7, None]"
    )
    result = session.run(FORGERY.format(report=report))

    assert len(result.observations) <= MAX_OBSERVATIONS
    assert all(len(o.subject) <= MAX_SUBJECT for o in result.observations)
    assert {o.capability for o in result.observations} == {"process.run"}


@pytest.mark.parametrize("report", ["None", "7", "'text'", "{'a': 1}", "[[['x'], {}, None, 'y']]"])
def test_a_forged_report_of_another_shape_is_passed_over(session, report):
    result = session.run(FORGERY.format(report=report) + "print('done')")

    assert (result.status, result.stdout) == (RunStatus.OK, "done\n")
    assert session.run("1").value == "1"


def test_reports_are_checked_word_by_word():
    observed = ObservationLog()
    fine = ["os.system", "process.run", "true", 1]
    observed.add(
        [
            fine,
            ["os.system", "process.run", "true", True],
            ["os.system", "process.run", "true", 0],
            ["os.system", "process.run", "true", -1],
            ["os.system", "process.run", "true", 1 << 60],
            ["os.system", "process.run", "true", 1.0],
            ["os.system", "network.socket", "true", 1],
            ["os.system", "process.run", 1, 1],
            ["os.system", "process.run", "\ud800", 2],
            ["open", "file.sensitive", "/etc/shadow", 3],
            ["socket.connect", "network.metadata", "169.254.169.254:80", 4],
            [*fine, "more"],
        ]
    )
    observed.add([["os.system", "process.run", "true", 5]])

    assert observed.finish() == (
        Observation("os.system", "process.run", "true", 5),
        Observation("os.system", "process.run", "\\ud800", 2),
        Observation("open", "file.sensitive", "/etc/shadow", 3),
        Observation("socket.connect", "network.metadata", "169.254.169.254:80", 4),
    )


def test_a_flood_of_reports_ends():
    observed = ObservationLog()
    for number in range(10_000):
        observed.add([["os.system", "process.run", str(number), 1]])

    assert len(observed.finish()) == MAX_OBSERVATIONS
