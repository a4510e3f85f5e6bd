"""Hardening for every engine: system call filter, control groups, mapped mounts, clean-up.

It may import the modules of layer 0 and `guest` only. Start reading at `seccomp`.
"""
