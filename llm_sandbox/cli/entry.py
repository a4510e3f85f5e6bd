"""Entry point of the command line.

`llm-sandbox run` is offered to the command daemon first, before anything heavy is imported.
"""

import os
import sys
from typing import NoReturn

__all__ = ["main"]


def main() -> NoReturn:
    """Run the command line and exit."""
    if sys.argv[1:2] == ["run"] and sys.platform == "linux":
        import signal

        from llm_sandbox.cli.daemon.client import run_remotely

        # Until a worker has the command, Ctrl-C ends it at once. Where it is ignored, it stays so.
        before = signal.getsignal(signal.SIGINT)
        if before is signal.default_int_handler:
            signal.signal(signal.SIGINT, lambda *_: os._exit(130))
        code = run_remotely(sys.argv[1:])
        if code is not None:
            os._exit(code)
        signal.signal(signal.SIGINT, before)
    from llm_sandbox.cli import app

    app.main()
