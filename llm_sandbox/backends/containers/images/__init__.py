"""Images of containers: found, pulled and built."""

__all__: list[str] = []
