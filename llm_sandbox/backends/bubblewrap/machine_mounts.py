"""Mounts of one machine of bubblewrap, in addition to the private root."""

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
"""Folder below which bwrap binds the sources; a machine binds them to its mount points later."""


class MachineMounts:
    """Mounts of one machine.

    The sandbox of an ordinary user is that user outside, and needs no mapping. Root's sandboxes run
    as another user, so their mounts are idmapped: the owner of the files is the sandbox's user.

    Args:
        mounts: Requested mounts by path inside.

    Raises:
        SecurityError: A mount would expose a sensitive path.
        UnsupportedError: The owner of a writable mount cannot be mapped.
        ValidationError: A path does not exist.
    """

    def __init__(self, mounts: Mapping[str, Mount]) -> None:
        self.found = find_mounts(mounts) if mounts else []
        """Mounts of folders and files of this computer."""
        self.sizes = sizes(mounts)
        """Mounts of memory: path inside to size in bytes."""

    @cached_property
    def _mapped(self) -> frozenset[str]:
        """Paths inside of the idmapped mounts. Only root may ask for them."""
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
        """Add the mounts without mapping to a private root."""
        for one in self.found:
            if not is_root or one.target not in self._mapped:
                binds = layout.binds if one.read_only else layout.writable
                binds[self._staged(one)] = one.source

    def mapped(self, user: int) -> dict[str, MappedFolder]:
        """Return the idmapped mounts by a name for each.

        Args:
            user: User and group that their owners are mapped to.
        """
        return {
            f"mount:{number}": one.mapped(self._staged(one), (user, user))
            for number, one in enumerate(self.found)
            if one.target in self._mapped
        }

    @property
    def binds(self) -> list[dict[str, str]]:
        """Binds that a machine makes by itself, for `guest.machine`."""
        return [{"source": self._staged(one), "path": one.target} for one in self.found]

    @property
    def writable(self) -> list[str]:
        """Mount points that programs may write to."""
        return [*(one.target for one in self.found if not one.read_only), *self.sizes]

    def workdir(self, spec: MachineSpec, options: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the file system of the working directory; none if a mount is there."""
        return [] if spec.workdir in spec.mounts else [{"path": spec.workdir, **options}]

    def report(self, isolation: Isolation) -> Isolation:
        """Return an isolation report with the mounts."""
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
