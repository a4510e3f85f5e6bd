"""Read-only volumes of every container: the runtime of the supervisor, and installed libraries."""

__all__: list[str] = []
