"""Detached sandboxes, which outlive the process that created them.

Each has a *daemon*: a small process of this computer that owns its `Machine`, enforces its
deadlines, stores the output of its programs, and serves clients through a Unix socket. A client has
a `DetachedMachine`, which is a `Machine` like any other.

::

    start      starts a daemon, and connects to one
    machine    the client's `Machine`
    client     the client's end of the connection, and the protocol
    daemon     the process; it has `programs`, and a `handler` for each client
    self_kept  those that need no daemon, as their own supervisor keeps them
    registry   the private folder (`state_dir`) with a `record` for each sandbox

Nothing here is imported before a detached sandbox is created or attached to.
"""
