"""What programs in Ruby do."""

from collections.abc import Callable

from llm_sandbox.security.raw_findings import ScanOutput
from llm_sandbox.security.source import Source
from llm_sandbox.security.trees.ruby.calls import Calls
from llm_sandbox.security.trees.syntax_tree import Node, read
from llm_sandbox.security.trees.values import Values

__all__ = ["scan"]


def scan(source: Source, depth: int = 0) -> ScanOutput:
    """Return what a program does.

    Args:
        source: The program.
        depth: How many programs it is the text of; reading ends at three.

    Raises:
        ImportError: the grammar is not installed.
    """
    return _Program(source, depth).run()


class _Program(Calls):
    """One program."""

    def __init__(self, source: Source, depth: int) -> None:
        # A heredoc that ends with the text is complete, which the grammar does not know.
        super().__init__(read(source, "ruby", source.text + "\n"))
        self.nesting = depth
        self.scan_text = scan

    def rules(self) -> dict[str, Callable[[Node], Values | None]]:
        return {**self.literal_rules(), **self.call_rules()}
