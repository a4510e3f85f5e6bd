"""What is asked of a container, and what an engine is told."""

__all__: list[str] = []
