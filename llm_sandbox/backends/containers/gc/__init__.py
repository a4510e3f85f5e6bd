"""What of ours is in an engine, and how it goes."""

__all__: list[str] = []
