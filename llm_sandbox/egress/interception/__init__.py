"""Interception of TLS connections to hosts with bound secrets.

The gate terminates the program's TLS, replaces placeholders, and connects to the host by TLS of its
own.
"""
