"""The images that containers are made from: found, pulled, built."""

__all__: list[str] = []
