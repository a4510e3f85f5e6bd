"""Fixtures of all tests."""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = [
    "tests.plugins.accounts",
    "tests.plugins.cluster",
    "tests.plugins.conformance_table",
    "tests.plugins.sampling",
    "tests.plugins.descriptors",
    "tests.plugins.language_table",
    "tests.plugins.leftovers",
    "tests.plugins.matrix_table",
    "tests.plugins.needed_engines",
    "tests.plugins.prefork",
    "tests.plugins.shares",
    "tests.plugins.steps_table",
]

# The suites that ship with the library say what differs, as the tests here do.
pytest.register_assert_rewrite("llm_sandbox.testing")

# A test run that a shell started in the background inherits an ignored SIGINT, and so would every
# program that a test interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A command daemon would outlive the test that ran a command; its own tests start their own.
os.environ["LLM_SANDBOX_CLI_DAEMON_S"] = "0"

# How long a case takes depends on what else the computer does.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")
