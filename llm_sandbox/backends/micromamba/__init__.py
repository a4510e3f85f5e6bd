"""Micromamba backend."""

__all__: list[str] = []
