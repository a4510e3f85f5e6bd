"""Modal's sandbox API on this library: ``from llm_sandbox.adapters import modal``.

Programs that use `App.lookup`, `Sandbox`, `Image`, `Secret`, `Volume` and `Tunnel` run as they are,
on this machine. Features that exist only in Modal's cloud are refused with the reason; see
`configure`.
"""

from llm_sandbox.adapters.modal import exception
from llm_sandbox.adapters.modal.app import App
from llm_sandbox.adapters.modal.configuration import configure, enable_output
from llm_sandbox.adapters.modal.container_process import ContainerProcess
from llm_sandbox.adapters.modal.exception import Error
from llm_sandbox.adapters.modal.image import Image
from llm_sandbox.adapters.modal.mount import (
    CloudBucketMount,
    Mount,
    NetworkFileSystem,
    Proxy,
    SchedulerPlacement,
)
from llm_sandbox.adapters.modal.probe import Probe
from llm_sandbox.adapters.modal.sandbox import Sandbox
from llm_sandbox.adapters.modal.secret import Secret
from llm_sandbox.adapters.modal.stream_type import StreamType
from llm_sandbox.adapters.modal.tunnel import Tunnel
from llm_sandbox.adapters.modal.volume import Volume

__all__ = [
    "App",
    "CloudBucketMount",
    "ContainerProcess",
    "Error",
    "Image",
    "Mount",
    "NetworkFileSystem",
    "Probe",
    "Proxy",
    "Sandbox",
    "SchedulerPlacement",
    "Secret",
    "StreamType",
    "Tunnel",
    "Volume",
    "configure",
    "enable_output",
    "exception",
]
