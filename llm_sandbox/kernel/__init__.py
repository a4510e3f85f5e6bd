"""The host's side of the conversation with a kernel: frames in, outputs out.

May import L0, `backends.base` and `guest.frames`. Start reading at `client`.
"""
