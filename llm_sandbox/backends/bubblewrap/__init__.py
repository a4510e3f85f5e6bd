"""Bubblewrap backend, the embedded default: Linux namespaces, without a daemon or root.

Start reading at `backend`.
"""
