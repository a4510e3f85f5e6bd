"""Base of the backends whose engines have Docker's API: one container for each machine."""

__all__: list[str] = []
