"""Table of refused system calls, from which every backend's filter is made.

Numbers are from the kernel's own headers (x86_64, then the generic table that aarch64 uses); None
where an architecture lacks the call. A call is refused with the error that a program expects of a
kernel without it: EPERM, or ENOSYS where the C library has a fallback only for that (``clone3``:
threads could not be started otherwise).
"""

from typing import Final

__all__ = [
    "ARCHITECTURES",
    "FILTERED",
    "MEMORY_OBJECTS",
    "NEWEST",
    "REFUSED_ENOSYS",
    "REFUSED_EPERM",
    "SET_ID_MODES",
    "SET_ID_UNSEEN",
    "X32_BIT",
    "Numbers",
]

Numbers = tuple[int | None, int | None]

ARCHITECTURES: Final = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Architecture name to its column here and its number in a seccomp filter (``AUDIT_ARCH_*``)."""

NEWEST: Final = 470
"""Highest system call number that was reviewed; newer calls return ENOSYS."""

X32_BIT: Final = 0x40000000
"""Set in the numbers of x86_64's second, rarely used, call table."""

REFUSED_EPERM: Final[dict[str, Numbers]] = {
    "_sysctl": (156, None),
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "clock_settime64": (None, 404),
    "create_module": (174, None),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "finit_module": (313, 273),
    "get_kernel_syms": (177, None),
    "get_mempolicy": (239, 236),
    "init_module": (175, 105),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "lookup_dcookie": (212, 18),
    "mbind": (237, 235),
    "migrate_pages": (256, 238),
    "modify_ldt": (154, None),
    "mount": (165, 40),
    "move_pages": (279, 239),
    "name_to_handle_at": (303, 264),
    "nfsservctl": (180, 42),
    "open_by_handle_at": (304, 265),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "process_madvise": (440, 440),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "query_module": (178, None),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "set_mempolicy": (238, 237),
    "set_mempolicy_home_node": (450, 450),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "sysfs": (139, None),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "uselib": (134, None),
    "userfaultfd": (323, 282),
    "ustat": (136, None),
    "vhangup": (153, 58),
}
"""Tracing and reading other processes, kernel keys, mounting, namespaces, modules, clocks, NUMA
placement."""

REFUSED_ENOSYS: Final[dict[str, Numbers]] = {
    "clone3": (435, 435),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "listmount": (458, 458),
    "memfd_secret": (447, 447),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "statmount": (457, 457),
}
"""io_uring, the new mount calls, and calls that are of use to attackers only."""

MEMORY_OBJECTS: Final[dict[str, Numbers]] = {
    "memfd_create": (319, 279),
    "shmget": (29, 194),
}
"""Memory that no process maps, and that a sum over processes misses; refused on request."""

FILTERED: Final[dict[str, Numbers]] = {
    "clone": (56, 220),
    "ioctl": (16, 29),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "personality": (135, 92),
    "socket": (41, 198),
    "socketpair": (53, 199),
}
"""Calls filtered by their arguments, in `seccomp`."""

SET_ID_MODES: Final[dict[str, Numbers]] = {
    "chmod": (90, None),
    "creat": (85, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "open": (2, None),
    "openat": (257, 56),
}
"""Calls that can set the set-user-id and set-group-id bits; refused with those bits on request."""

SET_ID_UNSEEN: Final[dict[str, Numbers]] = {
    "openat2": (437, 437),
}
"""Calls with such a mode in memory, where no filter sees it; refused on request."""
