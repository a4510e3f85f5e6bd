"""What every container finds mounted, read-only: our code, and installed libraries."""

__all__: list[str] = []
