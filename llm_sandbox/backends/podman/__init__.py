"""Podman backend."""

__all__: list[str] = []
