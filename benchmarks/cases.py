"""All races, in the order of the table."""

from benchmarks import (
    cells,
    command,
    containers,
    evaluation,
    gate,
    kubernetes,
    languages,
    memory,
    neighbours,
    oneshot,
    opening,
    output,
    plots,
    programs,
    serving,
    snapshots,
)
from benchmarks.race import Race

__all__ = ["all_races"]


def all_races() -> list[Race]:
    """Return every race."""
    themes = (
        *(
            opening,
            command,
            cells,
            neighbours,
            plots,
            output,
            memory,
            oneshot,
            languages,
            containers,
            kubernetes,
            evaluation,
            programs,
            gate,
            serving,
        ),
        snapshots,
    )
    return [race for theme in themes for race in theme.races()]
