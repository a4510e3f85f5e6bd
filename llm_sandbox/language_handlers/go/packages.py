"""Go libraries: modules, in a module cache that is used offline."""

import re
from collections.abc import Sequence
from typing import ClassVar

from llm_sandbox.language_handlers.package_settings import Carrier
from llm_sandbox.language_handlers.packages import Packages, Workplace

__all__ = ["GoPackages"]

_ELEMENT = r"[A-Za-z0-9_~][A-Za-z0-9_.~-]*"
_PATH = rf"[a-z0-9-]+(?:\.[a-z0-9-]+)+(?:/{_ELEMENT})*"
_VERSION = r"latest|v\d{1,9}(?:\.\d{1,9}){0,2}(?:[-+][A-Za-z0-9.+-]{1,80})?"


class GoPackages(Packages):
    """Installer of Go modules, with all of their packages.

    A layer has ``mod``, which is a GOMODCACHE, and the ``go.mod`` and ``go.sum`` of a module that
    requires the requested modules.
    """

    manager = "Go"
    registry = "Go's module proxy"
    settings_from = "go env GOPROXY"
    needs: ClassVar = {"go": "golang-go"}
    built_for: ClassVar = ("go",)
    spec = re.compile(rf"{_PATH}(?:@(?:{_VERSION}))?", re.ASCII)
    example = "github.com/google/uuid or github.com/google/uuid@v1.6.0"
    blames = re.compile(r"^(?:go: |go get: )(?!downloading|added|upgraded|finding)(.+)")

    def canonical(self, library: str) -> str:
        """Return the canonical spelling; see `Packages.canonical`."""
        return library if "@" in library else f"{library}@latest"

    def settings(self, carrier: Carrier) -> None:
        """Carry the settings of the Go toolchain; see `Packages.settings`."""
        super().settings(carrier)
        named = {}
        settings = carrier.environment.get("GOENV") or carrier.home / ".config" / "go" / "env"
        for line in (carrier.read(settings) or "").splitlines():
            name, _, text = line.partition("=")
            named[name] = text
        for name in (
            "GOPROXY",
            "GOPRIVATE",
            "GONOPROXY",
            "GOSUMDB",
            "GONOSUMDB",
            "GOINSECURE",
            "GOVCS",
        ):
            value = carrier.environment.get(name) or named.get(name)
            if value:
                carrier.variables[name] = _shared(value, carrier) if name == "GOPROXY" else value
        login = carrier.read(carrier.environment.get("NETRC") or carrier.home / ".netrc")
        if login:
            carrier.variables["NETRC"] = carrier.keep("netrc", login)

    def install(self, work: Workplace, specs: Sequence[str]) -> None:
        """Install libraries; see `Packages.install`."""
        site = f"{work.folder}/site"
        own = {
            "GOPATH": f"{work.folder}/gopath",
            "GOCACHE": f"{work.folder}/cache",
            "GOMODCACHE": f"{site}/mod",
            "GOENV": "off",
            "GOFLAGS": "-mod=mod -modcacherw",
            "GOTOOLCHAIN": "local",
            "GO111MODULE": "on",
        }
        work.run("mkdir", "-p", site)
        work.run("go", "mod", "init", "sandbox", env=own, cwd=site)
        # What a package of a module needs is fetched only when that package is asked for.
        whole = ["{}/...@{}".format(*spec.split("@")) for spec in specs]
        says = f"fetching {' '.join(specs)}"
        code, output = work.attempt("go", "get", *whole, says=says, env=own, cwd=site)
        if code and not self.hint(output):
            # Some modules have packages that nothing but their own tests can build.
            work.run("go", "get", *specs, env=own, cwd=site)
            work.attempt("go", "mod", "download", env=own, cwd=site)
        elif code:
            raise work.failure(output, "go get failed")
        # Unpacked already.
        cache = f"{site}/mod/cache"
        work.run("find", f"{cache}/download", "-name", "*.zip", "-delete")
        unused = (f"{cache}/{name}" for name in ("lock", "vcs", "download/sumdb"))
        work.run("rm", "-rf", *unused)


def _shared(proxies: str, carrier: Carrier) -> str:
    words = re.split(r"([,|])", proxies)
    return "".join(word if word in ",|" else carrier.share(word) for word in words)
