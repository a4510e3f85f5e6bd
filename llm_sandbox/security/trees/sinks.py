"""Tables of sinks: capabilities of a language's libraries."""

from dataclasses import dataclass, field
from functools import cached_property

from llm_sandbox.results.findings import Capability

__all__ = ["Sinks"]


@dataclass(frozen=True)
class Sinks:
    """Capabilities of names of a language's libraries.

    Args:
        calls: For each capability, the names whose call has it, separated by blanks. A name that
            ends with ``.*`` stands for all names below it without an entry of their own.
        reads: The same for names whose mere lookup has it.
        writes: Names whose call writes a file, with the number of the argument that is its path.
        commands: Names whose arguments, from that number on, form a command.
        plain: Names below a ``.*`` whose call is harmless.
        watched: Modules that are reported when they are passed to code that is not modelled.
    """

    calls: dict[Capability, str]
    reads: dict[Capability, str] = field(default_factory=dict)
    writes: dict[str, int] = field(default_factory=dict)
    commands: dict[str, int] = field(default_factory=dict)
    plain: str = ""
    watched: frozenset[str] = frozenset()

    @cached_property
    def _called(self) -> dict[str, Capability]:
        return {name: cap for cap, names in self.calls.items() for name in names.split()}

    @cached_property
    def _read(self) -> dict[str, Capability]:
        return {name: cap for cap, names in self.reads.items() for name in names.split()}

    @cached_property
    def _plain(self) -> frozenset[str]:
        return frozenset(self.plain.split())

    def of_call(self, name: str) -> Capability | None:
        """Return the capability of calling a name, or None for a harmless one."""
        found = self._called.get(name)
        if found is None and name not in self._plain:
            found = self._below(self._called, name)
        return found

    def of_read(self, name: str) -> Capability | None:
        """Return the capability of reading a name, or None for a harmless one."""
        found = self._read.get(name)
        if found is None and name not in self._plain:
            found = self._below(self._read, name)
        return found

    @staticmethod
    def _below(table: dict[str, Capability], name: str) -> Capability | None:
        # Programs may nest names without limit: only the last parts are checked.
        for _ in range(6):
            name, dot, _rest = name.rpartition(".")
            if not dot:
                return None
            found = table.get(f"{name}.*")
            if found is not None:
                return found
        return None
