"""Inventory and garbage collection of an engine's containers, volumes and images."""

__all__: list[str] = []
