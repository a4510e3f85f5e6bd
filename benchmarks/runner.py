"""Runner of races: a warm-up round, then rounds in which every lane has its turn, in
random order.
"""

import gc
import random
from collections.abc import Callable

from benchmarks.race import Race, Samples

__all__ = ["run_race"]


def run_race(
    race: Race, *, quick: bool, order: random.Random, say: Callable[[str], None]
) -> dict[str, Samples]:
    """Run a race.

    Args:
        race: The race.
        quick: Whether to run the smaller number of rounds.
        order: Random source that shuffles the lanes.
        say: Callback for progress messages.

    Returns:
        The samples by ``lane.measure``.

    Raises:
        CorrectnessError: A lane's output was wrong.
    """
    samples: dict[str, Samples] = {}
    rounds = race.quick_rounds if quick else race.rounds
    first = -1 if race.warm_up else 0
    try:
        for number in range(first, rounds):
            say(f"{race.name}: {'warm-up' if number < 0 else f'round {number + 1} of {rounds}'}")
            names = list(race.lanes)
            order.shuffle(names)
            for name in names:
                race.prepare()
                gc.collect()
                measured = race.lanes[name]()
                if number >= 0:
                    for what, value in measured.items():
                        samples.setdefault(f"{name}.{what}", Samples()).values.append(value)
    finally:
        race.finish()
    return samples
