"""An engine that belongs to one test, which may stop and start it."""

import contextlib
import io
import subprocess
import tarfile

import docker

from tests.containers.conftest import wait_for


class OwnEngine:
    """A second engine, with everything of its own, and one image that holds nothing."""

    # It removes the bridge of any other engine: in a network of its own there is none.
    command = ("unshare", "--net", "dockerd")
    flags = ("--bridge=none", "--iptables=false", "--ip6tables=false", "--ip-forward=false")

    def __init__(self, folder):
        self.folder = folder
        self.address = f"unix://{folder}/s"
        self.start()
        empty = io.BytesIO()
        with tarfile.open(fileobj=empty, mode="w") as archive:
            for name in ("proc", "sys", "dev", "tmp", "etc"):
                entry = tarfile.TarInfo(name)
                entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                archive.addfile(entry)
        with contextlib.closing(docker.DockerClient(self.address)) as client:
            client.api.import_image_from_data(empty.getvalue(), "nothing", "1")

    def start(self):
        """Start it, and wait until it answers."""
        places = ["--data-root", self.folder / "root", "--exec-root", self.folder / "exec"]
        places += ["--pidfile", self.folder / "pid", "--host", self.address]
        log = (self.folder / "log").open("ab")
        self.process = subprocess.Popen(
            [*self.command, *self.flags, "--ip-masq=false", *map(str, places)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
        log.close()

        def answers():
            assert self.process.poll() is None, (self.folder / "log").read_text()[-2000:]
            with contextlib.suppress(docker.errors.DockerException):
                docker.DockerClient(self.address).close()
                return True
            return False

        assert wait_for(answers, 60)

    def stop(self):
        """Stop it, as its own service does."""
        self.process.terminate()
        self.process.wait(60)
