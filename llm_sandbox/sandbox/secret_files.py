"""Secret files of a sandbox in memory, and the certificates for placeholders."""

import posixpath
from collections.abc import Sequence

from llm_sandbox.backends.base import Machine
from llm_sandbox.exceptions import FileError, UnsupportedError, ValidationError
from llm_sandbox.network import Network, rules_of
from llm_sandbox.sandbox.file_service import FileService
from llm_sandbox.sandbox.files import SandboxFiles
from llm_sandbox.secrets.plan import AUTHORITY, BUNDLE, SecretPlan
from llm_sandbox.secrets.secret import MEMORY

__all__ = ["check_secrets", "check_snapshot_path", "inject_certificates", "inject_secrets"]

_MOUNTS = "/proc/1/mountinfo"
"""Mount table of process 1 inside: the file service is not in the process table that it sees."""
_OWN_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
)
"""Paths of certificate bundles on common systems."""
_LARGEST_BUNDLE = 4 << 20


def check_secrets(plan: SecretPlan, network: Network, backend: str) -> None:
    """Refuse secrets that cannot be delivered, before anything is created.

    Args:
        plan: The plan of the secrets.
        network: The sandbox's network.
        backend: Name of the backend.

    Raises:
        ValidationError: There are placeholders, but no gate that could replace them.
        UnsupportedError: There are files or placeholders, but the sandbox has no private memory.
        MissingDependencyError: The package that signs certificates is not installed.
    """
    if (plan.files or plan.bindings) and backend == "local":
        raise _no_memory(backend)
    if not plan.bindings:
        return
    names = ", ".join(binding.name for binding in plan.bindings)
    if rules_of(network) is None:
        raise ValidationError(
            f"secret {names} is a placeholder, which the gate of a network with rules replaces; "
            f"network={network!r} has no gate",
            parameter="network",
            hint=f"network=NetworkRules.allow(domains=[{plan.bindings[0].hosts[0].split(':')[0]!r}])"
            ", or network='internet'",
        )
    from llm_sandbox.egress.interception.prerequisites import library_paths

    library_paths()


def check_snapshot_path(path: str) -> None:
    """Refuse to save a directory that contains secrets.

    Args:
        path: Absolute path inside.

    Raises:
        ValidationError: The path is the memory of the sandbox, or in it.
    """
    if f"{posixpath.normpath(path)}/".startswith(f"{MEMORY}/"):
        raise ValidationError(
            f"{MEMORY} is in memory, where secrets lie, and is saved in no snapshot",
            parameter="path",
            hint="copy what is wanted from there to the working directory",
        )


def inject_secrets(machine: Machine, plan: SecretPlan) -> None:
    """Write the files of a plan into a sandbox's memory, readable by its user alone.

    Raises:
        UnsupportedError: The sandbox has no private memory.
        FileError: The files could not be written.
    """
    if not plan.files:
        return
    if machine.isolation.level == "none":
        raise _no_memory(machine.isolation.backend)
    files = _files(machine)
    try:
        _check_memory(files, machine.isolation.backend, [file.path for file in plan.files])
        for file in plan.files:
            data = file.value.encode("utf-8", "surrogateescape")
            files.write_bytes(file.path, data, exclusive=True, mode=0o400)
    finally:
        files.close()


def inject_certificates(machine: Machine, authority: str, trusted: str) -> None:
    """Write the certificates by which programs trust the gate.

    Args:
        machine: Machine of the sandbox.
        authority: Certificate of the authority.
        trusted: Certificates that this computer trusts, for a sandbox without a bundle of its own.

    Raises:
        UnsupportedError: The sandbox has no private memory.
        FileError: The files could not be written.
    """
    files = _files(machine)
    try:
        _check_memory(files, machine.isolation.backend, [AUTHORITY, BUNDLE])
        for path in _OWN_BUNDLES:
            try:
                # trust: goes back to where it is from, and is read by nobody here.
                trusted = files.read_bytes(path, _LARGEST_BUNDLE).decode("ascii", "replace")
            except FileError:
                continue
            break
        files.write_bytes(AUTHORITY, authority.encode(), mode=0o444)
        files.write_bytes(BUNDLE, f"{trusted.rstrip()}\n{authority}".encode(), mode=0o444)
    finally:
        files.close()


def _no_memory(backend: str) -> UnsupportedError:
    return UnsupportedError(
        "a secret that is a file or a placeholder",
        backend,
        "its programs have the file systems and the network of this machine",
        hint="delivery='env', or another backend",
    )


class _Files(SandboxFiles):
    def close(self) -> None:
        self._service.close()


def _files(machine: Machine) -> _Files:
    service = FileService(machine.open_files, machine.isolation.backend)
    return _Files(service, machine.spec.workdir)


def _check_memory(files: SandboxFiles, backend: str, paths: Sequence[str]) -> None:
    """Refuse a sandbox where the folder of secrets is on a disk, or is the host's."""
    in_memory = False
    # trust: says where the sandbox's own secrets are written; it could lie only to itself.
    for line in files.read_text(_MOUNTS).splitlines():
        before, _, after = line.partition(" - ")
        root, mount_point = (*before.split(" "), "", "", "", "", "")[3:5]
        if any(f"{path}/".startswith(f"{mount_point}/") for path in paths):
            # The last one covers those before, and part of another file system is a bind's.
            own = mount_point == MEMORY and root == "/" and after.startswith("tmpfs ")
            in_memory = own if mount_point.startswith(MEMORY) else in_memory
    if in_memory:
        return
    raise UnsupportedError(
        "a secret that is a file or a placeholder",
        backend,
        f"there is no file system in memory at {MEMORY} in this sandbox",
        hint="delivery='env'",
    )
