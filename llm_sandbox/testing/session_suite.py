"""Conformance suite of sessions: interpreter, results, ends.

Subclass `SessionSuite` in a test module and give it a `backend_name`.
"""

from llm_sandbox.testing.session_artifact_suite import SessionArtifactSuite
from llm_sandbox.testing.session_ending_suite import SessionBackgroundSuite, SessionEndingSuite
from llm_sandbox.testing.session_environment_suite import (
    SessionEnvironmentSuite,
    SessionPolicySuite,
)
from llm_sandbox.testing.session_files_suite import SessionFilesSuite
from llm_sandbox.testing.session_result_suite import SessionResultSuite

__all__ = ["SessionSuite"]


class SessionSuite(
    SessionResultSuite,
    SessionBackgroundSuite,
    SessionArtifactSuite,
    SessionFilesSuite,
    SessionEndingSuite,
    SessionEnvironmentSuite,
    SessionPolicySuite,
):
    """All behaviours of a session. One session serves all tests that do not end it."""
