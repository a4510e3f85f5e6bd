"""Process of the local engine: a `BatchWorker` behind a socket."""

import contextlib
import os
import signal
import socket
import threading
from concurrent.futures import CancelledError
from queue import SimpleQueue
from typing import BinaryIO

from llm_sandbox.evaluation.engines.batch_worker import BatchWorker
from llm_sandbox.evaluation.engines.frames import read_frame, write_frame

__all__ = ["main"]

_END_S = 5.0


def main(descriptor: int) -> None:
    """Answer the batches that come through a socket, until it ends.

    The first frame is the setup. The end of the socket is that of the driver as well, and so ends
    this process soon, whatever it is doing.

    Args:
        descriptor: Descriptor of the socket.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the driver, which ends the others
    with socket.socket(fileno=descriptor) as connection:
        connection.set_inheritable(False)
        requests, answers = connection.makefile("rb"), connection.makefile("wb")
        setup = read_frame(requests)
        if setup is None:
            return
        worker = BatchWorker(setup, workers=1)
        batches: SimpleQueue[bytes | None] = SimpleQueue()
        threading.Thread(target=_read, args=(requests, batches, worker), daemon=True).start()
        try:
            while (batch := batches.get()) is not None:
                write_frame(answers, worker.answer(batch))
        except (OSError, CancelledError):
            pass  # nobody waits for the answer
        finally:
            worker.close()
            with contextlib.suppress(OSError):
                answers.close()


def _read(requests: BinaryIO, batches: "SimpleQueue[bytes | None]", worker: BatchWorker) -> None:
    while (frame := read_frame(requests)) is not None:
        batches.put(frame)
    batches.put(None)
    # A batch may take minutes, and its answer is for nobody now.
    end = threading.Timer(_END_S, os._exit, (1,))
    end.daemon = True
    end.start()
    worker.close()
