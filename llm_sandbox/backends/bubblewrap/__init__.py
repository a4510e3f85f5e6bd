"""The embedded default: Linux namespaces made by bubblewrap, without a daemon and without root.

Start reading at `backend`.
"""
