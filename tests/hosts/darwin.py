"""A pytest plugin: the run sees the Python of macOS."""

from tests.hosts.other_system import become

become("darwin")
