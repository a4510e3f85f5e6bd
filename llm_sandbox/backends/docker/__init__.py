"""Docker backend."""

__all__: list[str] = []
