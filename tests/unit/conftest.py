"""Fixtures of the unit tests."""

import os
import socket
import threading

import pytest

from llm_sandbox.guest import files as guest_files
from llm_sandbox.limits import Limits
from llm_sandbox.sandbox.changes import WorkdirWatch
from llm_sandbox.sandbox.file_service import FileService
from llm_sandbox.sandbox.files import ModifiedFlag, SandboxFiles


class Place:
    """A directory of this machine with the real service and a watch over it."""

    def __init__(self, path):
        self.path = path
        self.lines = []
        self.modified = ModifiedFlag()
        self.service = FileService(self._connect, "test")
        self.files = SandboxFiles(self.service, str(path), self.modified)
        self.watch = WorkdirWatch(self.service, str(path), self.modified, is_empty=True)
        self.limits = Limits()

    def _connect(self):
        near, far = socket.socketpair()

        def serve():
            with far:
                guest_files.serve(far)

        threading.Thread(target=serve, daemon=True).start()
        self.lines.append(near)
        return near

    def collect(self):
        return self.watch.collect(self.limits)

    def after(self, action=lambda: None):
        """What one run does, whose files change by `action`."""
        self.watch.mark()
        action()
        return self.collect()


@pytest.fixture
def place(tmp_path):
    umask = os.umask(0o022)
    folder = tmp_path / "work"
    folder.mkdir()
    made = Place(folder)
    yield made
    made.service.close()
    os.umask(umask)
