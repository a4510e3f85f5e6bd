"""Constants of both ends, for hosts that cannot import the guest's other modules."""

USER_ID = 65532
"""The user id that a machine's processes see as theirs."""
LINK_IN_MOUNT_PATH = "a program's link is in the path of a mount"
"""Start of the message when the path of a mount point is refused."""
PASSED, RELAYED, REFUSED, PRESENT = b"H", b"C", b"R", b"P"
"""First byte of an agent's answer: a descriptor is passed with it; the bytes of the connection
follow; an error number follows; the sender's credentials are passed with it.
"""
