"""Sandboxes that outlive the process that made them.

Each has a *daemon*: a small process of this machine that owns its `Machine`, holds its deadlines,
keeps the output of its programs, and serves clients through a Unix socket. A client has a
`DetachedMachine`, which is a `Machine` like any other.

::

    start     starts a daemon, and connects to one
    machine   what a client has
    line      a client's end of the connection, and the protocol
    daemon    the process; it holds `programs`, and serves each client by a `guest`
    registry  who there is: a private folder with a `record` for each, in `place`

Nothing here is imported until a sandbox is to be kept, or one that is kept is looked for.
"""
