"""Limits of evaluated programs."""

from dataclasses import dataclass, replace

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.limits import Limits, Size
from llm_sandbox.mounts.size import parse_size

__all__ = ["EvalLimits"]

_WALL_FACTOR, _WALL_EXTRA_S = 3.0, 2.0
_MOST_S = 24 * 3600.0


@dataclass(frozen=True)
class EvalLimits:
    """Limits of each test of a sample.

    Sizes are bytes or text such as ``"512m"``.

    Raises:
        ValidationError: A value is invalid; `parameter` names it.
    """

    cpu_time: float = 5.0
    """CPU time of all processes of a test together, in seconds."""
    wall_time: float | None = None
    """Time of a test by the clock, in seconds; None for ``3 * cpu_time + 2``, the CPU time divided
    by `cpus` if these are less than one."""
    memory: Size = "512m"
    """Memory of all processes of a test together."""
    output: Size = "16m"
    """Bytes of each stream of output, beyond which the verdict is ``OLE``."""
    files: Size = "64m"
    """Bytes of the files in the working directory, and as much in ``/tmp``."""
    processes: int = 32
    """Processes and threads alive at once."""
    compile_time: float = 30.0
    """CPU time of a compiler, in seconds."""
    cpus: float | None = None
    """CPUs that may be busy at once, fractions allowed; None for no limit. The limit needs a
    control group, which ordinary users seldom may make."""
    inodes: int = 65536
    """Files and directories in the working directory, and as many in ``/tmp``."""
    open_files: int = 512
    """Open file descriptors of one process."""

    def __post_init__(self) -> None:
        for name in ("cpu_time", "wall_time", "compile_time"):
            value = getattr(self, name)
            if value is None and name == "wall_time":
                continue
            if not isinstance(value, int | float) or not 0 < value <= _MOST_S:
                raise ValidationError(
                    f"invalid {name}: expected seconds, over 0 and at most {_MOST_S:.0f}, "
                    f"got {value!r}",
                    parameter=name,
                )
        for name in ("memory", "output", "files"):
            object.__setattr__(self, name, parse_size(getattr(self, name), name))
        self.to_machine_limits()

    @property
    def wall_seconds(self) -> float:
        """Time by the clock after which a test is ended, in seconds."""
        if self.wall_time is not None:
            return self.wall_time
        return _WALL_FACTOR * self.cpu_time / min(self.cpus or 1, 1) + _WALL_EXTRA_S

    def scaled(self, factor: float) -> "EvalLimits":
        """Return limits with other times.

        Args:
            factor: Factor of the times.
        """
        wall_time = None if self.wall_time is None else self.wall_time * factor
        return replace(self, cpu_time=self.cpu_time * factor, wall_time=wall_time)

    def to_machine_limits(self) -> Limits:
        """Return the limits of the machine that the tests run in."""
        return Limits(
            memory_bytes=self.memory,
            workdir_bytes=self.files,
            tmp_bytes=self.files,
            shm_bytes=self.files,
            file_size_bytes=self.files,
            processes=self.processes,
            cpus=self.cpus,
            inodes=self.inodes,
            open_files=self.open_files,
        )
