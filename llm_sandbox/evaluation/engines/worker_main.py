"""Main function of a worker's process: a `BatchWorker` behind a socket."""

import contextlib
import os
import signal
import socket
import threading
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import BinaryIO

from llm_sandbox.evaluation.engines.batch_worker import BatchWorker
from llm_sandbox.evaluation.engines.frames import read_frame, write_frame

__all__ = ["main"]

_END_S = 5.0
_BATCHES = 2
"""Batches that overlap, so that the last samples of one do not keep CPUs from the next."""


def main(descriptor: int, workers: int) -> None:
    """Answer the batches that come through a socket in their order, until it ends.

    The first frame is the setup. The end of the socket is that of the driver as well, and so ends
    this process soon, whatever it is doing.

    Args:
        descriptor: Descriptor of the socket.
        workers: Number of tests that run at the same time.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the driver, which ends the others
    with socket.socket(fileno=descriptor) as connection:
        connection.set_inheritable(False)
        requests, replies = connection.makefile("rb"), connection.makefile("wb")
        setup = read_frame(requests)
        if setup is None:
            return
        worker = BatchWorker(setup, workers)
        answers: SimpleQueue[Future[bytes] | None] = SimpleQueue()
        reader = threading.Thread(target=_read, args=(requests, answers, worker), daemon=True)
        reader.start()
        try:
            while (answer := answers.get()) is not None:
                write_frame(replies, answer.result())
        except (OSError, CancelledError):
            pass  # nobody waits for the answer
        finally:
            worker.close()
            with contextlib.suppress(OSError):
                replies.close()


def _read(
    requests: BinaryIO, answers: "SimpleQueue[Future[bytes] | None]", worker: BatchWorker
) -> None:
    with ThreadPoolExecutor(_BATCHES, "llm-sandbox-batch") as threads:
        while (frame := read_frame(requests)) is not None:
            answers.put(threads.submit(worker.answer, frame))
        # A batch may take minutes, and its answer is for nobody now.
        end = threading.Timer(_END_S, os._exit, (1,))
        end.daemon = True
        end.start()
        answers.put(None)
        worker.close()
