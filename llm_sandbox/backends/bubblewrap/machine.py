"""A machine whose namespaces are this kernel's own."""

import contextlib
from collections.abc import Iterator

from llm_sandbox.backends.ports import process_in_network
from llm_sandbox.backends.supervised import SupervisedMachine

__all__ = ["BubblewrapMachine"]


class BubblewrapMachine(SupervisedMachine):
    """See `Machine`. Its network namespace belongs to a user namespace of whoever started it, who
    may therefore enter it without being root.
    """

    @contextlib.contextmanager
    def process_in_network(self) -> Iterator[int]:
        with process_in_network(self._request, self.id) as process:
            yield process
