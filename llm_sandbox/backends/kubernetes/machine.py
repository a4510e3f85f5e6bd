"""Machine that is a pod."""

import json
import os
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from llm_sandbox.backends.base import Isolation, MachineSpec, ProcessSpec
from llm_sandbox.backends.connection import SupervisorConnection
from llm_sandbox.backends.image_machine import ImageMachine
from llm_sandbox.backends.kubernetes.pods import Pods
from llm_sandbox.backends.ports import listen_for_proxy, proxy_variables
from llm_sandbox.backends.python_environment import GUEST_ROOT
from llm_sandbox.backends.supervised import SupervisedMachine, guest_command
from llm_sandbox.exceptions import BackendError, UnsupportedError

__all__ = ["PodMachine"]

_CLUSTER_VARIABLES = ("KUBERNETES_",)
_PROBE_S = 2.0
_MOST_BYTES = 64 << 10


class PodMachine(ImageMachine):
    """See `Machine`.

    Args:
        pods: The namespace's pods.
        pod: The pod's name.
        image: The image's name.
        guest: Folder of the guest's code inside.
        no_rules: Reason why its network takes no rules; None where it does.
        machine_id: Unique identifier; None for the pod's name.
    """

    def __init__(
        self,
        connection: SupervisorConnection,
        spec: MachineSpec,
        isolation: Isolation,
        *,
        pods: Pods,
        pod: str,
        image: str,
        confinement: Mapping[str, Any],
        loaded: threading.Event,
        on_destroyed: Callable[[SupervisedMachine], None],
        guest: str = GUEST_ROOT,
        no_rules: str | None = None,
        machine_id: str | None = None,
    ) -> None:
        self.guest = guest
        self.pods = pods
        self.pod = pod
        self._image = image
        self._images: tuple[str, str] | None = None
        self._no_rules = no_rules
        self._proxy_env: Mapping[str, str] = {}
        variables = connection.hello["environment"]
        host = variables.get("KUBERNETES_SERVICE_HOST", "")
        self.service_address = f"{host}:{variables.get('KUBERNETES_SERVICE_PORT', '443')}"
        """Address of the API server in the cluster; it begins with a colon where none is known."""
        # What the cluster tells every pod about itself is not the code's.
        connection.hello["environment"] = {
            name: value
            for name, value in variables.items()
            if not name.startswith(_CLUSTER_VARIABLES)
        }
        super().__init__(
            connection,
            spec,
            isolation,
            guest=guest,
            machine_id=machine_id or pod,
            confinement=confinement,
            loaded=loaded,
            on_destroyed=on_destroyed,
        )

    @property
    def image(self) -> str:
        return self._image

    @property
    def images(self) -> tuple[str, str] | None:
        if self._images is None:
            found = self.pods.find(self.pod) or {}
            for one in found.get("status", {}).get("containerStatuses") or ():
                if one.get("imageID"):
                    self._images = str(one["imageID"]), self._image
        return self._images

    def open_proxy(self) -> socket.socket:
        if self._no_rules is not None:
            raise UnsupportedError(
                "a network with rules",
                self.isolation.backend,
                self._no_rules,
                hint="make another sandbox with these rules, in a pod of its own",
            )
        stream, port = listen_for_proxy(self._request, self.id)
        self._proxy_env = proxy_variables(port)
        return stream

    def base_env(self) -> dict[str, str]:
        return {**super().base_env(), **self._proxy_env}

    def reachable(self, addresses: Sequence[str]) -> list[str]:
        """Return those of the addresses, ``host:port``, that a program of the pod can connect to.

        Raises:
            BackendError: The program did not come to its end.
            ContainerGoneError: The machine has ended.
        """
        argv = guest_command(
            self._paths, "reachability.main", list(addresses), _PROBE_S, isolated_site=True
        )
        raw = self.start(ProcessSpec(tuple(argv), {}, timeout_s=_PROBE_S * 5))
        try:
            with open(raw.stdout, "rb") as output:
                # trust: no code of a user has run yet; what is found is compared, not followed.
                words = output.read(_MOST_BYTES)
        finally:
            os.close(raw.stderr)
        if not words:
            raise BackendError(
                f"the program that looks for addresses in the pod {self.pod} printed nothing"
            )
        found = json.loads(words)
        return [address for address in addresses if address in found]
