"""Options that callers give for containers, checked and immutable."""

__all__: list[str] = []
