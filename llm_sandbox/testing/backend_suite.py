"""Conformance suite of backends, in this library or outside.

In a test module::

    class TestMine(BackendSuite):
        backend_name = "mine"
        known_deviations = {"test_loopback_works": "why it does not here"}

A backend that is unavailable on a machine is skipped there with the reason.
"""

from llm_sandbox.testing.ending_suite import EndingSuite
from llm_sandbox.testing.environment_suite import EnvironmentSuite
from llm_sandbox.testing.file_suite import FileSuite
from llm_sandbox.testing.lifetime_suite import LifetimeSuite
from llm_sandbox.testing.stream_suite import StreamSuite
from llm_sandbox.testing.transfer_suite import TransferSuite

__all__ = ["BackendSuite"]


class BackendSuite(
    StreamSuite, EndingSuite, EnvironmentSuite, FileSuite, TransferSuite, LifetimeSuite
):
    """All behaviours of a backend's machines."""
