"""Jupyter's messaging protocol in front of a session's kernel, whatever carries the messages.

`relay` is the kernel's side of the protocol, `replies` answers what a kernel does not, `languages`
describes languages to front ends. Needs nothing that is not installed with the library.
"""

__all__: list[str] = []
