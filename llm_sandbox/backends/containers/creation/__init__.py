"""Creation of containers: the arguments for the engine, and the isolation that they give."""

__all__: list[str] = []
