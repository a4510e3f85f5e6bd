"""Images saved from a sandbox within a timeout."""

import threading
from collections.abc import Callable

from llm_sandbox.adapters.modal.checks import check_timeout
from llm_sandbox.adapters.modal.exception import ExecutionError, SandboxTimeoutError
from llm_sandbox.adapters.modal.image import Image
from llm_sandbox.adapters.modal.translation import translated
from llm_sandbox.backends.snapshot import Snapshot
from llm_sandbox.sandbox import Sandbox as Machine

__all__ = ["save_image"]


def save_image(machine: Machine, timeout: float, save: Callable[[Machine], Snapshot]) -> Image:
    """Return the image of a snapshot.

    Args:
        machine: Sandbox to save.
        timeout: Seconds to wait.
        save: Function that takes the snapshot; called in a thread of its own.

    Raises:
        ExecutionError: The snapshot failed.
        InvalidError: The timeout is invalid.
        SandboxTimeoutError: The timeout passed; the unfinished snapshot is deleted.
    """
    check_timeout(timeout, "timeout")
    attempt = _Attempt(lambda: save(machine))
    with translated():
        snapshot = attempt.result(timeout)
    return Image._from_snapshot(snapshot, machine.workdir)


class _Attempt:
    """Snapshot in progress, which is deleted if the caller stops waiting."""

    def __init__(self, save: Callable[[], Snapshot]) -> None:
        self._save = save
        self._lock = threading.Lock()
        self._is_given_up = False
        self._made: Snapshot | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, daemon=True, name="llm-sandbox-save")
        self._thread.start()

    def _work(self) -> None:
        try:
            made = self._save()
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            self._error = error
            return
        with self._lock:
            self._made = made
            unwanted = self._is_given_up
        if unwanted:
            made.delete()

    def result(self, timeout: float) -> Snapshot:
        """Return the snapshot, or raise what prevented it."""
        self._thread.join(timeout)
        with self._lock:
            if self._made is not None:
                return self._made
            self._is_given_up = True
        if self._thread.is_alive():
            raise SandboxTimeoutError(f"saving took more than {timeout} s", float(timeout))
        raise self._error or ExecutionError("nothing was saved")
