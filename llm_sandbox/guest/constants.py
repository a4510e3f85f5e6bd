"""What both ends call by one name, for a host that cannot load what the guest does with it."""

USER_ID = 65532
"""The user id that a machine's processes see as theirs."""
LINK_IN_MOUNT_PATH = "a program's link is in the path of a mount"
"""How the message begins when the path of a mount point is refused."""
PASSED, RELAYED, REFUSED, PRESENT = b"H", b"C", b"R", b"P"
"""First byte of an errand's answer: a descriptor comes with it; what follows are the connection's
own bytes; an error number follows; the sender's credentials come with it.
"""
