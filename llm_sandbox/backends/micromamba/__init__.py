"""The micromamba backend."""

__all__: list[str] = []
