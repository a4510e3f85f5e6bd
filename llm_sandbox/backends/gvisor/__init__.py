"""A kernel of its own for every sandbox: gVisor's `runsc`, without a container engine and without
root.

Start reading at `backend`.
"""
