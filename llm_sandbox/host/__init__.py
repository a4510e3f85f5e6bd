"""What differs between the systems that this library runs on: Linux, macOS and Windows.

Sandboxes are Linux on all of them; `guest` is what runs inside.
"""
