"""`llm-sandbox ps`, `stop` and `gc`: sandboxes that are detached or in container engines."""

from typing import Annotated

from llm_sandbox.cli.grammar import Argument, Command, Option
from llm_sandbox.cli.images import EngineName

__all__ = [
    "GC",
    "PS",
    "STOP",
    "DryRunOption",
    "EngineOption",
    "JsonOption",
    "OlderThanOption",
    "VerboseOption",
    "gc",
    "ps",
    "stop",
]

EngineOption = Annotated[
    EngineName | None,
    Option("--engine", help="The engine; without it, each that answers.", metavar="NAME"),
]
DryRunOption = Annotated[
    bool, Option("--dry-run", help="Say what would be removed, and remove nothing.")
]
JsonOption = Annotated[bool, Option("--json", help="Print one JSON document.")]
OlderThanOption = Annotated[
    str | None,
    Option("--older-than", help="Leave what is younger, such as 90s, 30m, 1h, 2d.", metavar="AGE"),
]
VerboseOption = Annotated[
    bool,
    Option("--verbose", "-v", help="Also say which engines do not answer, and what is not listed."),
]


def ps(
    engine: EngineOption = None,
    everything: Annotated[
        bool,
        Option("--all", help="Also what does not run, and volumes and images."),
    ] = False,
    verbose: VerboseOption = False,
    as_json: JsonOption = False,
) -> None:
    """List detached sandboxes, and those in container engines, with their owner and age."""
    from llm_sandbox.cli.inventory import list_sandboxes

    raise SystemExit(
        list_sandboxes(engine, everything=everything, verbose=verbose, as_json=as_json)
    )


def stop(
    ids: Annotated[
        list[str] | None, Argument(help="Sandboxes, as ps names them.", metavar="ID...")
    ] = None,
    every: Annotated[
        bool, Option("--all", help="Every sandbox, also those that programs are using.")
    ] = False,
    engine: EngineOption = None,
    verbose: VerboseOption = False,
) -> None:
    """End sandboxes, whoever uses them."""
    from llm_sandbox.cli.inventory import end_sandboxes

    raise SystemExit(end_sandboxes(ids or [], engine, every=every, verbose=verbose))


def gc(
    engine: EngineOption = None,
    dry_run: DryRunOption = False,
    older_than: OlderThanOption = None,
    verbose: VerboseOption = False,
    as_json: JsonOption = False,
) -> None:
    """Remove what no living process owns: containers, half-made things, old volumes and images.

    Images that people named, and those of languages, stay.
    """
    from llm_sandbox.cli.inventory import clean_up

    raise SystemExit(
        clean_up(engine, older_than, dry_run=dry_run, verbose=verbose, as_json=as_json)
    )


PS = Command(ps)
STOP = Command(stop)
GC = Command(gc)
