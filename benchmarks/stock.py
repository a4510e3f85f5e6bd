"""The stock alternative: an ipykernel driven by `jupyter_client`, as its documentation does."""

import subprocess
import time
from types import TracebackType
from typing import Any, Self

from jupyter_client.manager import KernelManager

from benchmarks.race import CorrectnessError

__all__ = ["StockKernel"]

_TIMEOUT_S = 120.0


class StockKernel:
    """Stock kernel of its own process.

    Args:
        wait: Whether to call `wait_for_ready`, as the documentation does. Without it the first
            request is sent at once, which saves the client's polling.
    """

    def __init__(self, *, wait: bool = True) -> None:
        self._wait = wait

    def open(self) -> None:
        """Start the kernel and connect to it."""
        self.manager = KernelManager(kernel_name="python3")
        # Its warning about unencrypted TCP would be lines between ours.
        self.manager.start_kernel(stderr=subprocess.DEVNULL)
        self.client: Any = self.manager.client()
        self.client.start_channels()
        if self._wait:
            self.client.wait_for_ready(timeout=_TIMEOUT_S)

    @property
    def pid(self) -> int:
        """Process id of the kernel."""
        provisioner: Any = self.manager.provisioner
        return int(provisioner.pid)

    def run(self, code: str) -> list[dict[str, Any]]:
        """Run a cell to its reply and its idle status.

        This loop is a little quicker than `execute_interactive`, which also polls stdin.

        Returns:
            The cell's messages on the iopub channel.

        Raises:
            CorrectnessError: The cell failed.
        """
        number = self.client.execute(code)
        messages: list[dict[str, Any]] = []
        while True:
            message = self.client.get_iopub_msg(timeout=_TIMEOUT_S)
            if message["parent_header"].get("msg_id") != number:
                continue
            messages.append(message)
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                break
        self._take_reply(number)
        return messages

    def run_blind(self, code: str) -> None:
        """Run a cell to its reply alone.

        Before `wait_for_ready` has returned, that is all one may count on: what a kernel publishes
        while its client is still subscribing is lost.
        """
        self._take_reply(self.client.execute(code))

    def _take_reply(self, number: str) -> None:
        reply = self.client.get_shell_msg(timeout=_TIMEOUT_S)
        while reply["parent_header"].get("msg_id") != number:
            reply = self.client.get_shell_msg(timeout=_TIMEOUT_S)
        if reply["content"]["status"] != "ok":
            raise CorrectnessError(f"the stock kernel failed: {reply['content']}")

    def stdout(self, code: str) -> str:
        """Run a cell and return what it printed."""
        return "".join(
            message["content"]["text"]
            for message in self.run(code)
            if message["msg_type"] == "stream" and message["content"]["name"] == "stdout"
        )

    def close(self) -> float:
        """End the kernel; return how long that took, in seconds."""
        started = time.perf_counter()
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        elapsed = time.perf_counter() - started
        self.manager.cleanup_resources()
        return elapsed

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        self.close()
