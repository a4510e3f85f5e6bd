"""The conformance suites, as classes to inherit from; they need pytest.

May import everything below; nothing imports this.
Start reading at `suite`, then `backend_suite`.
"""
