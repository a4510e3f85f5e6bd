"""Egress gate of a sandbox: sockets in its network namespace, and a process outside of it.

The process checks every name and address against the rules and makes the connections itself.
"""
