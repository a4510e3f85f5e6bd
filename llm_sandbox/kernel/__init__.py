"""Kernel client: the host's side of the conversation with an interpreter.

May import L0, `backends.base` and `guest.frames`. Start reading at `client`.
"""
