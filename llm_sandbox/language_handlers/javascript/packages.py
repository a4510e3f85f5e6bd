"""JavaScript libraries: npm packages, installed without running any of their code."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from llm_sandbox.language_handlers.package_settings import Carrier
from llm_sandbox.language_handlers.packages import Packages, Workplace

__all__ = ["NpmPackages"]

_NAME = r"(?:@[a-z0-9~-][a-z0-9._~-]*/)?[A-Za-z0-9][A-Za-z0-9._~-]*"
_RANGE = r"(?:\^|~|>=|<=|>|<|=)?v?\d{1,9}(?:\.(?:\d{1,9}|x|\*)){0,2}(?:[-+][A-Za-z0-9.+-]{1,60})?"
_TAG = r"[a-z][a-z0-9-]{0,60}"
_FILES = ("cafile", "certfile", "keyfile")
_WORDS = (
    "before",
    "ca",
    "cert",
    "fetch-retries",
    "fetch-timeout",
    "https-proxy",
    "key",
    "local-address",
    "min-release-age",
    "noproxy",
    "proxy",
    "registry",
    "replace-registry-host",
    "strict-ssl",
)
"""Settings of registries and of the network; settings of single registries and scopes are carried
as well."""
_VARIABLE = re.compile(r"\$\{(\w{1,100})(\?)?\}")
_OPTIONS = (
    "--ignore-scripts",
    "--no-bin-links",
    "--no-save",
    "--no-package-lock",
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
    "--omit=dev",
    "--loglevel=error",
)


class NpmPackages(Packages):
    """Installer of npm packages. Install scripts are not run, so compiled add-ons are missing, and
    commands have no links in ``.bin``.
    """

    manager = "npm"
    registry = "npm's registry"
    settings_from = "npm config get registry"
    needs: ClassVar = {"npm": "npm"}
    serves_images: ClassVar = True
    spec = re.compile(rf"{_NAME}(?:@(?:{_RANGE}|{_TAG}))?", re.ASCII)
    example = "lodash@4.17.21 or @scope/name@^1.2.0"
    blames = re.compile(r"^npm (?:error|ERR!) (?!code|errno|syscall|A complete log|\S*$)(.+)")

    def settings(self, carrier: Carrier) -> None:
        """Carry npm's settings; see `Packages.settings`."""
        super().settings(carrier)
        own = carrier.environment
        named = own.get("NPM_CONFIG_USERCONFIG") or own.get("npm_config_userconfig")
        found: dict[str, list[str]] = {}
        for path in ("/etc/npmrc", Path(named) if named else carrier.home / ".npmrc"):
            for name, value in _read(carrier.read(path) or "", own):
                if name.endswith("[]"):
                    found.setdefault(name, []).append(value)
                else:
                    found[name] = [value]
        for name, value in own.items():
            if name.lower().startswith("npm_config_") and value:
                key = name[len("npm_config_") :]
                key = key if key.startswith("//") else key.lower().replace("_", "-")
                if _is_carried(key):
                    found[key] = [value]
        lines = []
        for name, values in found.items():
            is_file = name.rpartition(":")[2] in _FILES
            lines += [f"{name}={carrier.share(value) if is_file else value}" for value in values]
        carrier.variables["npm_config_userconfig"] = carrier.keep("npmrc", "\n".join([*lines, ""]))

    def install(self, work: Workplace, specs: Sequence[str]) -> None:
        """Install libraries; see `Packages.install`."""
        site = f"{work.folder}/site"
        work.run(
            *("npm", "install", "--prefix", site, *_OPTIONS),
            *("--cache", f"{work.folder}/cache", "--", *specs),
            says=f"installing {' '.join(specs)}",
            env={"npm_config_fetch_retries": "1"},
        )
        # It says where packages came from, which is nobody's business inside.
        work.run("rm", "-f", f"{site}/node_modules/.package-lock.json")


def _read(text: str, environment: Mapping[str, str]) -> list[tuple[str, str]]:
    pairs = []
    for line in text.splitlines():
        name, equals, value = (part.strip() for part in line.partition("="))
        if not equals or line.lstrip().startswith((";", "#")) or not _is_carried(name):
            continue
        if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
            value = value[1:-1]
        pairs.append((name, _VARIABLE.sub(lambda found: environment.get(found[1], ""), value)))
    return pairs


def _is_carried(name: str) -> bool:
    plain = name.removesuffix("[]")
    return plain in (*_WORDS, *_FILES) or plain.startswith("//") or plain.endswith(":registry")
