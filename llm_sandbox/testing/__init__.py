"""Conformance suites, as pytest classes to inherit from.

May import everything below; nothing imports this.
Start reading at `suite`, then `backend_suite`.
"""
