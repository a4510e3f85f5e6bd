"""Differences between the systems that this library runs on: Linux and macOS.

Sandboxes are Linux on both; `guest` is what runs inside.
"""
