"""Guest side: the modules that run inside the sandbox.

Stdlib only (the kernel modules also use ipykernel) and nothing of ours outside this package: the
folder is bound read-only into every sandbox and started there as the package ``guest``.
Modules set `TYPE_CHECKING` themselves: an import of `typing` would take a tenth of the supervisor's
start. Start reading at `supervisor`.
"""
