"""Backend of Kubernetes: a pod for each machine."""

__all__: list[str] = []
