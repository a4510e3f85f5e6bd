"""Memory of idle sessions."""

from collections.abc import Mapping

from benchmarks import ours, processes
from benchmarks.race import CorrectnessError, Race, Row, Target
from benchmarks.stock import StockKernel

__all__ = ["races"]

_WHERE = "import os; print(os.readlink('/proc/self/ns/pid'))"


def _ours() -> Mapping[str, float]:
    with ours.without_pool(), ours.new_session() as session:
        link = ours.checked_run(session, _WHERE).stdout.strip()
        ours.checked_run(session, "print(1)", "1\n")
        members = processes.namespace_members(link)
        sizes = {pid: processes.private_bytes(pid) / 1e6 for pid in members}
    kernels = [pid for pid, name in members.items() if name == "kernel"]
    if len(kernels) != 1:
        raise CorrectnessError(f"the session's processes are {members}")
    return {"kernel": sizes[kernels[0]], "all": sum(sizes.values())}


def _stock() -> Mapping[str, float]:
    with StockKernel() as kernel:
        kernel.run("print(1)")
        return {"kernel": processes.private_bytes(kernel.pid) / 1e6}


def races() -> list[Race]:
    """Return the races of this theme."""
    return [
        Race(
            name="memory",
            lanes={"ours": _ours, "stock": _stock},
            rows=(
                Row(
                    "private memory of an idle session",
                    "ours.kernel",
                    "stock.kernel",
                    Target("times", 3),
                    unit="MB",
                ),
                Row(
                    "the same with its init and whatever else it has",
                    "ours.all",
                    "stock.kernel",
                    unit="MB",
                ),
            ),
            rounds=3,
            quick_rounds=1,
            warm_up=False,
        )
    ]
