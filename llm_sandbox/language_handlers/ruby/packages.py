"""Ruby libraries: gems, resolved and downloaded first, then built without network."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from llm_sandbox.language_handlers.package_settings import Carrier
from llm_sandbox.language_handlers.packages import Packages, Workplace, digest_of

__all__ = ["GemPackages"]

_GEMS = "gems"
_INSTALLED = ("/usr/share/rubygems-integration", "/usr/lib/ruby", "/usr/local/lib/ruby")
_ITEM = re.compile(r"\s*-\s+[\"']?(?P<address>[^\s\"']+)")
_SETTING = re.compile(
    r"(?P<name>:?(?:http_proxy|ssl_ca_cert|ssl_client_cert|ssl_verify_mode))\s*:\s+[\"']?"
    r"(?P<value>[^\s\"']+)"
)
_NO_COMPILER = re.compile(
    r"can't find header files for ruby|(?:make|gcc)\b[^\n]*(?:not found|No such file)"
    r"|No such file or directory - (?:make|gcc)"
)
_VERSION = r"\d[0-9A-Za-z.]{0,60}"
# Gets a folder and NAME=REQUIREMENT for each gem; what is there already is not fetched.
_FETCH = r"""
require "rubygems/dependency_installer"
folder, *wanted = ARGV
set = installer = nil
begin
  set = Gem::RequestSet.new
  wanted.each do |text|
    name, requirement = text.split("=", 2)
    set.gem(name, *(requirement.empty? ? [] : [requirement]))
  end
  installer = Gem::Resolver::InstallerSet.new(:remote)
  wanted.each do |text|
    name, requirement = text.split("=", 2)
    required = Gem::Requirement.create(requirement.empty? ? nil : requirement)
    installer.add_always_install(Gem::Dependency.new(name, required))
  end
  set.resolve(installer)
  set.sorted_requests.each_with_index do |request, number|
    next if request.installed?
    path = request.download(folder)
    File.rename(path, File.join(folder, format("%04d-%s", number, File.basename(path))))
  end
rescue Gem::Exception, SocketError, SystemCallError, OpenSSL::SSL::SSLError => error
  problems = [installer, set].compact.flat_map { |found| Array(found.errors) }
  problems.each { |problem| warn "ERROR:  #{problem.wordy}" if problem.respond_to?(:wordy) }
  warn "ERROR:  #{error.message}"
  exit 1
end
"""
_OPTIONS = ("--local", "--force", "--ignore-dependencies", "--no-document", "--no-user-install")


class GemPackages(Packages):
    """Installer of gems. Native extensions are compiled without network."""

    manager = "gem"
    registry = "rubygems.org"
    settings_from = "gem sources"
    needs: ClassVar = {"gem": "ruby", "ruby": "ruby"}
    built_for: ClassVar = ("ruby",)
    spec = re.compile(
        rf"[A-Za-z0-9_][A-Za-z0-9_.-]*(?: *(?P<sign>[:=@]|==|~>) *v?(?P<version>{_VERSION}))?",
        re.ASCII,
    )
    example = "rainbow, rainbow@3.1.1 or rainbow ~> 3.1"
    blames = re.compile(r"^ERROR:\s+((?!\s|While executing|Error installing [^:]*:$).+)")

    def canonical(self, library: str) -> str:
        """Return the canonical spelling; see `Packages.canonical`."""
        found = self.spec.fullmatch(library)
        if found is None or found["version"] is None:
            return library
        name = re.split(r"[ :=@~]", library, maxsplit=1)[0]
        sign = "~>" if found["sign"] == "~>" else "="
        return f"{name} {sign} {found['version']}"

    def facts(self, path: str) -> list[Any]:
        """Return facts for the cache key; see `Packages.facts`."""
        # Gems that the system has are not fetched.
        has = sorted(
            found.name
            for folder in _INSTALLED
            for found in Path(folder).glob("**/specifications/**/*.gemspec")
        )
        return [*super().facts(path), digest_of(has)]

    def settings(self, carrier: Carrier) -> None:
        """Carry the settings of RubyGems; see `Packages.settings`."""
        super().settings(carrier)
        carrier.carry("RUBYGEMS_HOST", "SSL_CERT_DIR")
        texts = [carrier.read(path) for path in ("/etc/gemrc", _own_settings(carrier))]
        kept = [line for text in texts if text for line in _sources(text, carrier)]
        if kept:
            text = "\n".join(["---", *kept, ""])
            carrier.variables["GEMRC"] = carrier.keep("gemrc", text)

    def hint(self, output: str) -> str | None:
        """Return advice for the user; see `Packages.hint`."""
        if _NO_COMPILER.search(output):
            return "what it compiles needs Debian's packages ruby-dev, gcc and make"
        return super().hint(output)

    def install(self, work: Workplace, specs: Sequence[str]) -> None:
        """Install libraries; see `Packages.install`."""
        gems = f"{work.folder}/{_GEMS}"
        work.run("mkdir", "-p", gems)
        script = work.write("fetch.rb", _FETCH)
        wanted = ["=".join(spec.partition(" ")[::2]) for spec in specs]
        says = f"fetching {' '.join(specs)}"
        work.run("ruby", script, gems, *wanted, says=says)
        with work.apart(_GEMS) as place:
            site = f"{place.folder}/site"
            place.run("mkdir", "-p", site)
            # Not by `ls`, which gVisor's statx does not like.
            listing = place.run("sh", "-c", "echo *.gem", cwd=f"{place.folder}/{_GEMS}")
            for name in sorted(word for word in listing.split() if word[0].isdigit()):
                place.run(
                    *(
                        "gem",
                        "install",
                        *_OPTIONS,
                        "--install-dir",
                        site,
                        "--bindir",
                        f"{site}/bin",
                    ),
                    f"{place.folder}/{_GEMS}/{name}",
                    says=f"installing {name[5:-4]}",
                    env={"GEM_PATH": f"{site}:"},
                )
            unused = ("cache", "doc", "build_info")
            place.run("rm", "-rf", *(f"{site}/{name}" for name in unused))


def _own_settings(carrier: Carrier) -> Path:
    named = carrier.environment.get("GEMRC")
    if named:
        return Path(re.split(r"[:;]", named)[0])
    found = (carrier.home / name for name in (".gemrc", ".config/gem/gemrc"))
    return next((path for path in found if path.is_file()), carrier.home / ".gemrc")


def _sources(text: str, carrier: Carrier) -> list[str]:
    """Return the lines of a settings file that define gem sources and network access."""
    lines, listing = [], False
    for line in text.splitlines():
        item = _ITEM.match(line)
        if listing and item is not None:
            lines.append(f"- {carrier.share(item['address'])}")
            continue
        listing = line.strip() in (":sources:", "sources:")
        found = _SETTING.match(line)
        if listing:
            lines.append(":sources:")
        elif found is not None:
            is_file = found["name"].endswith("cert")
            value = carrier.share(found["value"]) if is_file else found["value"]
            lines.append(f"{found['name']}: {value}")
    return lines
