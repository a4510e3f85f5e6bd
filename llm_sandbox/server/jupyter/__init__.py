"""Jupyter's kernel gateway: notebooks whose kernels are sandboxes of this server.

`api` has the routes, `kernel` is a kernel with its clients, `channels` their websocket, `wire` the
forms of messages on it.
"""

__all__: list[str] = []
