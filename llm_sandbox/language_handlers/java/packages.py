"""Java libraries: artifacts by their Maven coordinates, as jars."""

import io
import json
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar
from xml.etree import ElementTree

from llm_sandbox.language_handlers.package_settings import Carrier
from llm_sandbox.language_handlers.packages import Packages, Workplace

__all__ = ["MavenPackages"]

_CENTRAL = "https://repo.maven.apache.org/maven2"
_WORD = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
_VARIABLE = re.compile(r"\$\{env\.(\w{1,100})\}")


class MavenPackages(Packages):
    """Installer of artifacts of a Maven repository and their runtime dependencies. Maven itself is
    not needed: `resolver` resolves as Maven would.
    """

    manager = "Maven"
    registry = "Maven Central, or the repository of ~/.m2/settings.xml,"
    settings_from = "the mirrors of ~/.m2/settings.xml"
    is_portable: ClassVar = True
    spec = re.compile(rf"{_WORD}:{_WORD}(?::[0-9A-Za-z_][A-Za-z0-9_.+-]*)?", re.ASCII)
    example = "org.apache.commons:commons-lang3:3.14.0"
    blames = re.compile(r"^error: (.+)")

    def settings(self, carrier: Carrier) -> None:
        """Carry Maven's settings; see `Packages.settings`."""
        super().settings(carrier)
        text = carrier.read(carrier.home / ".m2" / "settings.xml")
        repositories = _repositories(text, carrier) if text else []
        known = repositories or [{"id": "central", "url": _CENTRAL}]
        carrier.keep("maven.json", json.dumps(known))

    def install(self, work: Workplace, specs: Sequence[str]) -> None:
        """Install libraries; see `Packages.install`."""
        script = work.write("resolver.pyz", _resolver())
        settings, site = f"{work.folder}/settings/maven.json", f"{work.folder}/site"
        says = f"fetching {' '.join(specs)}"
        work.run(work.python, "-I", script, settings, site, *specs, says=says)


def _resolver() -> bytes:
    """Return the program `resolver` as one zip archive that Python runs."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for path in sorted(Path(__file__).with_name("resolver").glob("*.py")):
            archive.writestr(f"resolver/{path.name}", path.read_bytes())
        archive.writestr(
            "__main__.py", "import sys, resolver.resolution as r; sys.exit(r.main())\n"
        )
    return data.getvalue()


def _repositories(text: str, carrier: Carrier) -> list[dict[str, str]]:
    """Return the repositories that Maven's settings define, with mirrors and credentials
    applied.
    """
    filled = _VARIABLE.sub(lambda found: carrier.environment.get(found[1], ""), text)
    try:
        root = ElementTree.fromstring(filled)  # noqa: S314 - the user's own file
    except ElementTree.ParseError:
        return []
    for item in root.iter():
        if isinstance(item.tag, str):
            item.tag = item.tag.rpartition("}")[2]
    active = {(item.text or "").strip() for item in root.iterfind("activeProfiles/activeProfile")}
    named = {"central": _CENTRAL}
    for profile in root.iterfind("profiles/profile"):
        is_default = profile.findtext("activation/activeByDefault", "").strip() == "true"
        if is_default or profile.findtext("id", "").strip() in active:
            for item in profile.iterfind("repositories/repository"):
                named[item.findtext("id", "").strip()] = item.findtext("url", "").strip()
    mirrors = [
        [item.findtext(tag, "").strip() for tag in ("id", "mirrorOf", "url")]
        for item in root.iterfind("mirrors/mirror")
    ]
    logins = {
        item.findtext("id", "").strip(): (item.findtext("username"), item.findtext("password"))
        for item in root.iterfind("servers/server")
    }
    found: dict[str, dict[str, str]] = {}
    for name, address in named.items():
        mirror = next((entry for entry in mirrors if _mirrors(entry[1], name, address)), None)
        chosen, url = (mirror[0], mirror[2]) if mirror is not None else (name, address)
        user, password = logins.get(chosen, (None, None))
        login = {"user": user.strip(), "password": (password or "").strip()} if user else {}
        found[chosen] = {"id": chosen, "url": carrier.share(url), **login}
    return list(found.values())


def _mirrors(rule: str, name: str, address: str) -> bool:
    words = [word.strip() for word in rule.split(",")]
    if f"!{name}" in words:
        return False
    is_outside = not re.match(r"file:|https?://(?:localhost|127\.0\.0\.1)\b", address)
    return name in words or "*" in words or ("external:*" in words and is_outside)
