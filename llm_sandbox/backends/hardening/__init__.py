"""What hardens a sandbox whatever engine runs it: the system call filter and control groups.

May import the words of L0 only. Start reading at `seccomp`.
"""
