"""Pending request to a kernel, with everything that answers it."""

from collections.abc import Iterator
from typing import Any

from llm_sandbox.guest import frames
from llm_sandbox.host.terminal import strip_controls
from llm_sandbox.kernel.background import Background
from llm_sandbox.kernel.output_buffer import (
    OUTPUT_KINDS,
    OutputBuffer,
    StreamName,
    read_stream_name,
)

__all__ = ["PendingRequest"]

_READ = {
    *OUTPUT_KINDS, "input_request", "llm_sandbox_observed", "llm_sandbox_pipes", "status", "stream",
}  # fmt: skip
"""Message types that are read besides replies; other messages are never unpacked."""


class PendingRequest:
    """State of one request.

    Args:
        request: Number of the request's message.
        reply_kind: Type of the reply.
        collector: Receiver of the output meanwhile.
        stdin: Lines for `input`; None to refuse it.
        background: Receiver of output of earlier runs meanwhile.

    Attributes:
        others: What kind of processes of earlier runs can write to the same pipes: ``workers``,
            which may do what the run gives them, or ``others``; None where there are none.
        reads_pipes: Whether the pipes are read. Where processes of earlier runs may write to them,
            they are not before the first message of the run, which says whether any can.
        took_shared: Whether something was taken for the run's output that may be of theirs.
    """

    def __init__(
        self,
        request: str,
        reply_kind: str,
        collector: OutputBuffer,
        stdin: Iterator[str] | None,
        background: Background,
    ) -> None:
        self._request = request
        self._reply_kind = reply_kind
        self._stdin = stdin
        self._background = background
        self._is_run = reply_kind == "execute_reply"
        self.others: str | None = None
        self.reads_pipes = not (self._is_run and background.has_processes)
        self.took_shared = False
        self.collector = collector
        self.reply: dict[str, Any] | None = None
        self.buffers: list[memoryview] = []
        self._idle = False

    @property
    def is_complete(self) -> bool:
        """Whether both reply and idle have arrived: a forged idle alone ends nothing."""
        return self._idle and self.reply is not None

    def add_pipe(self, name: StreamName, data: bytes) -> None:
        """Add bytes that bypassed the interpreter.

        Code that was not seen to start a process seldom writes there itself: where processes of
        earlier runs do, it is not known whose it is. A service writes nothing there.
        """
        if not self._is_run:
            self._background.add_bytes(name, data, self._background.writer)
            return
        if self.others == "others" and not self.collector.observed.started_process:
            self._background.add_bytes(name, data, None)
            return
        self.took_shared = self.took_shared or self.others is not None
        self.collector.add_bytes(name, data, raw=True)

    def take(self, frame: frames.Frame) -> str | None:
        """Process one frame; return the answer to a request for input.

        Raises:
            FrameError: The frame is not a Jupyter message.
        """
        # trust: everything in the frame comes from inside.
        message, buffers = frame.message, frame.buffers
        try:
            kind = message["header"]["msg_type"]
            if message["parent_header"].get("msg_id") != self._request:
                self._background.take_frame(frame)
                return None
            self.reads_pipes = True
            content = message["content"]
            if kind == "stream" and message.get("bulk") and buffers:
                self.collector.add_bytes(read_stream_name(content["name"]), buffers[0])
                return None
            is_reply = kind == self._reply_kind and frame.channel == frames.SHELL
            if not is_reply and (kind not in _READ or not self.collector.admits(kind, frame.size)):
                return None
            own = frames.restore_bulk(message, buffers, self.collector.largest)
            if is_reply:
                self.buffers = own
            return self._dispatch(frame, kind, message["content"])
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise frames.FrameError(f"a message is malformed: {error}") from None

    def _dispatch(self, frame: frames.Frame, kind: str, content: dict[str, Any]) -> str | None:
        if kind == self._reply_kind and frame.channel == frames.SHELL:
            self.reply = content
            detail = content.get("llm_sandbox") or {}
            self.collector.observed.add(detail.get("observed"))
            counts = detail.get("dropped", {})
            self.collector.add_dropped({read_stream_name(n): int(c) for n, c in counts.items()})
            for page in content.get("payload") or ():
                # What a notebook shows in its pager, or puts into its next cell.
                text = _payload_text(page)
                if text:
                    self.collector.add_bytes("stdout", text.encode("utf-8", "backslashreplace"))
        elif kind == "status":
            self._idle = self._idle or content["execution_state"] == "idle"
        elif kind == "stream":
            self.collector.add_bytes(read_stream_name(content["name"]), content["text"].encode())
        elif kind == "llm_sandbox_pipes":
            found = content.get("writers")
            self.others = found if found in (None, "workers") else "others"
        elif kind == "llm_sandbox_observed":
            self.collector.observed.add(content.get("observed"))
        elif kind == "input_request":
            # As in a script, what asks is part of what was written.
            prompt = str(content.get("prompt", "")).encode("utf-8", "backslashreplace")
            self.collector.add_bytes("stdout", prompt)
            return next(self._stdin, "\x04") if self._stdin is not None else "\x04"
        else:
            self.collector.add_message(kind, content)
        return None


def _payload_text(payload: dict[str, Any]) -> str:
    if payload["source"] == "page":
        text = payload["data"].get("text/plain", "")
    else:
        text = payload["text"] if payload["source"] == "set_next_input" else ""
    return f"{strip_controls(str(text)).rstrip()}\n" if text else ""
