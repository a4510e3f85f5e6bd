"""gVisor backend: `runsc` with a kernel for each sandbox, without a container engine or root.

Start reading at `backend`.
"""
