"""What of this computer one machine of bubblewrap's is given besides the private root."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from llm_sandbox.backends.base import Control, Isolation, MachineSpec
from llm_sandbox.backends.hardening.idmap import MappedFolder, obstacle
from llm_sandbox.backends.host_root import Layout
from llm_sandbox.backends.mounts import HostMount, find_mounts, sizes
from llm_sandbox.exceptions import UnsupportedError
from llm_sandbox.mounts import Mount

__all__ = ["MachineMounts"]

_STAGE = "/run/llm-sandbox"
"""Where bubblewrap puts folders, from where a machine takes them once its own places are there."""


class MachineMounts:
    """The mounts of one machine.

    As an ordinary user's, a sandbox is that user outside and needs nothing more. Root's sandboxes
    are some other user, so that folders are mapped: their owner is the sandbox's user inside.

    Args:
        mounts: What was asked for, by path inside.

    Raises:
        SecurityError: One would give away what nobody should.
        UnsupportedError: What it is to write to cannot be mapped.
        ValidationError: There is nothing at a path.
    """

    def __init__(self, mounts: Mapping[str, Mount]) -> None:
        self.found = find_mounts(mounts) if mounts else []
        """Those that are folders or files of this computer."""
        self.sizes = sizes(mounts)
        """Path inside to bytes of those that are memory."""

    @cached_property
    def _mapped(self) -> frozenset[str]:
        """Those that are mapped, by path inside."""
        # Here, as only a parent that is root gets so far.
        mapped = set()
        for one in self.found:
            reason = obstacle(one.source)
            if reason is None:
                mapped.add(one.target)
            elif not one.read_only and not one.is_open_to_all:
                raise UnsupportedError(
                    f"a writable mount of {one.source}",
                    "bubblewrap",
                    f"its owner cannot be mapped ({reason}), and others may not write to it",
                    hint="mount it read-only, move it to another file system, or do this as its "
                    "owner instead of root",
                )
        return frozenset(mapped)

    def _staged(self, one: HostMount) -> str:
        return f"{_STAGE}/{self.found.index(one)}"

    def stage(self, layout: Layout, *, is_root: bool) -> None:
        """Add to a private root what needs no mapping."""
        for one in self.found:
            if not is_root or one.target not in self._mapped:
                place = layout.binds if one.read_only else layout.writable
                place[self._staged(one)] = one.source

    def mapped(self, user: int) -> dict[str, MappedFolder]:
        """Return what root mounts with its owner as another user, by a name for each.

        Args:
            user: Number of that user and of its group.
        """
        return {
            f"mount:{number}": one.mapped(self._staged(one), (user, user))
            for number, one in enumerate(self.found)
            if one.target in self._mapped
        }

    @property
    def binds(self) -> list[dict[str, str]]:
        """From where to where a machine takes them, as `guest.machine` reads it."""
        return [{"source": self._staged(one), "path": one.target} for one in self.found]

    @property
    def writable(self) -> list[str]:
        """Paths inside that programs may write to."""
        return [*(one.target for one in self.found if not one.read_only), *self.sizes]

    def workdir(self, spec: MachineSpec, options: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the working directory's own file system, unless something is mounted there."""
        return [] if spec.workdir in spec.mounts else [{"path": spec.workdir, **options}]

    def report(self, isolation: Isolation) -> Isolation:
        """Return an isolation report that names them."""
        if not self.found:
            return isolation
        files = isolation.controls["files"].by
        shown = ", ".join(map(str, self.found))
        controls = {
            **isolation.controls,
            "files": Control("approximated", f"{files}; besides, as asked: {shown}"),
        }
        unlimited = [one.target for one in self.found if not one.read_only]
        if unlimited:
            by = f"no size limits: {', '.join(unlimited)}"
            controls["disk"] = Control("approximated", by)
        return replace(isolation, controls=controls)
