"""A pytest plugin: the run sees the Python of Windows."""

from tests.hosts.other_system import become

become("win32")
