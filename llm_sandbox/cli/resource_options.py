"""Command-line options of the resources of a sandbox: memory, CPUs, processes, disk."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

from llm_sandbox.cli.exit_codes import usage_error
from llm_sandbox.cli.grammar import Option, Options, close_to

if TYPE_CHECKING:
    from llm_sandbox.limits import Limits

__all__ = ["ResourceOptions"]


class ResourceOptions(Options):
    """Options that make the `Limits` of a sandbox."""

    memory: Annotated[
        str | None,
        Option("--memory", help="Memory of a sandbox, such as 512m or 2g.", metavar="SIZE"),
    ] = None
    cpus: Annotated[
        float | None,
        Option("--cpus", help="CPUs that may be busy at once, such as 1.5.", metavar="N"),
    ] = None
    processes: Annotated[
        int | None, Option("--processes", help="Processes and threads at once.", metavar="N")
    ] = None
    disk: Annotated[
        str | None, Option("--disk", help="Size of the working directory.", metavar="SIZE")
    ] = None
    limit: Annotated[
        list[str] | None,
        Option(
            "--limit",
            help="Any other limit by its name in docs/cli.md, such as tmp=128m or open_files=64; "
            "may be repeated.",
            metavar="NAME=VALUE",
        ),
    ] = None

    def limits(self, usual: Mapping[str, Any] = MappingProxyType({})) -> "Limits":
        """Return the limits of the sandbox.

        Args:
            usual: Limits that no option has set, by name.

        Raises:
            ValidationError: A limit is invalid.
        """
        from llm_sandbox.limits import Limits

        given: dict[str, Any] = {}
        for option, name, text in self.sizes():
            if text is not None:
                # What only the host cuts may be nothing at all.
                nothing = text == "0" and name in Limits._may_be_zero
                given[name] = 0 if nothing else Limits.parse_size(text, option)
        given |= {"cpus": self.cpus} if self.cpus is not None else {}
        given |= {"processes": self.processes} if self.processes is not None else {}
        return Limits(**{**usual, **given, **_other_limits(self.limit or (), given)})

    def sizes(self) -> list[tuple[str, str, str | None]]:
        """Return the options that are sizes: name, limit and text of each."""
        return [
            ("--memory", "memory_bytes", self.memory),
            ("--disk", "workdir_bytes", self.disk),
        ]


def _other_limits(entries: "list[str] | tuple[()]", given: dict[str, Any]) -> dict[str, Any]:
    """Parse ``--limit NAME=VALUE``; the name of a size may lack ``_bytes``."""
    from llm_sandbox.limits import Limits

    known = {name: name for name in Limits.__dataclass_fields__}
    known |= {name.removesuffix("_bytes"): name for name in known if name.endswith("_bytes")}
    found: dict[str, Any] = {}
    for entry in entries:
        short, equals, text = entry.partition("=")
        name = known.get(short.replace("-", "_"))
        if name is None or not equals:
            usage_error(
                f"--limit: expected NAME=VALUE with one of {', '.join(sorted(set(known.values())))}"
                f", got {entry!r}",
                close_to(short, known),
            )
        if name in given or name in found:
            usage_error(f"{name} is limited twice", "leave one of them out")
        zero = text == "0" and name in Limits._may_be_zero
        try:
            if name in Limits._fractions:
                found[name] = float(text)
            elif name.endswith("_bytes") and not zero:
                found[name] = Limits.parse_size(text, f"--limit {short}")
            else:
                found[name] = int(text)
        except ValueError as error:
            message = getattr(error, "message", f"--limit {short}: expected a number, got {text!r}")
            usage_error(message)
    return found
