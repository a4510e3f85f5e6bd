"""Gems, from a source made for the test: fetched with what they need, and built apart."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.exceptions import LibraryInstallationError
from llm_sandbox.language_handlers.ruby.packages import GemPackages
from tests.languages.packages.sources import index_gems, make_gem

if TYPE_CHECKING:
    from tests.languages.packages.installing import MakeInstaller

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

EXTCONF = r"""
require "socket"
seen = Socket.getifaddrs.map(&:name).uniq.sort.join(" ")
File.write("../lib/built_demo.rb", "SEEN = #{[seen, ENV.key?("GEMRC")].inspect}\n")
File.write("Makefile", "all:\n\nclean:\n\ninstall:\n")
"""


def ruby(folder: Path, code: str) -> str:
    env = {**os.environ, "GEM_PATH": f"{folder}:"}
    done = subprocess.run(["ruby", "-e", code], env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_gem_comes_with_what_it_needs(installer: MakeInstaller, source: Path) -> None:
    made = installer(GemPackages())
    make_gem(source, "below_demo", {"lib/below_demo.rb": 'BELOW = "below"\n'})
    make_gem(
        source,
        "above_demo",
        {"lib/above_demo.rb": 'require "below_demo"\nABOVE = "above " + BELOW\n'},
        add_dependency='"below_demo", "~> 1.0"',
    )
    index_gems(source)
    layer = made.install("above_demo")
    assert ruby(layer.path, 'require "above_demo"; puts ABOVE') == "above below\n"
    assert sorted(path.name for path in (layer.path / "gems").iterdir()) == [
        "above_demo-1.0.0",
        "below_demo-1.0.0",
    ]
    assert not (layer.path / "cache").exists()
    assert made.words[0] == "fetching above_demo"
    assert made.leftovers == []


def test_a_version_is_chosen(installer: MakeInstaller, source: Path) -> None:
    made = installer(GemPackages())
    for version in ("1.0.0", "1.4.2", "2.0.0"):
        code = {"lib/chosen_demo.rb": f'CHOSEN = "{version}"\n'}
        make_gem(source, "chosen_demo", code, version=f'= "{version}"')
    index_gems(source)
    say = 'require "chosen_demo"; puts CHOSEN'
    assert ruby(made.install("chosen_demo").path, say) == "2.0.0\n"
    assert ruby(made.install("chosen_demo ~> 1.0").path, say) == "1.4.2\n"
    assert ruby(made.install("chosen_demo@1.0.0").path, say) == "1.0.0\n"


def test_code_of_gems_runs_without_network_and_settings(
    installer: MakeInstaller, source: Path
) -> None:
    made = installer(GemPackages())
    files = {"ext/extconf.rb": EXTCONF, "lib/built_demo.rb": ""}
    make_gem(source, "built_demo", files, extensions='= ["ext/extconf.rb"]')
    index_gems(source)
    seen = ruby(made.install("built_demo").path, 'require "built_demo"; p SEEN')
    assert seen == '["lo", false]\n' or not made.isolates


def test_headers_that_lack_are_named(installer: MakeInstaller, source: Path) -> None:
    folder = subprocess.run(
        ["ruby", "-e", 'puts RbConfig::CONFIG["rubyhdrdir"]'], capture_output=True, text=True
    )
    if Path(folder.stdout.strip()).is_dir():
        pytest.skip("the headers of Ruby are installed here")
    made = installer(GemPackages())
    files = {"ext/extconf.rb": 'require "mkmf"\ncreate_makefile("native_demo")\n'}
    make_gem(source, "native_demo", files, extensions='= ["ext/extconf.rb"]')
    index_gems(source)
    with pytest.raises(LibraryInstallationError, match="native extension") as caught:
        made.install("native_demo")
    assert "ruby-dev" in str(caught.value.hint)
    assert made.leftovers == []


def test_a_gem_that_is_not_there_is_an_error_in_gems_words(
    installer: MakeInstaller, source: Path
) -> None:
    made = installer(GemPackages())
    make_gem(source, "some_demo", {"lib/some_demo.rb": ""})
    index_gems(source)
    with pytest.raises(LibraryInstallationError) as caught:
        made.install("nothing_of_this_name")
    assert "nothing_of_this_name" in str(caught.value)
    assert made.leftovers == []
