"""What the engines with Docker's interface share: one container for each machine."""

__all__: list[str] = []
