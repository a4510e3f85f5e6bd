"""The process that runs Ruby, spoken to as the kernel does."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.language_handlers.ruby import RubyHandler
from tests.languages.wrapped import reply, text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.languages.wrapped import Wrapped

pytestmark = pytest.mark.timeout(120)

GEMSPEC = """
Gem::Specification.new do |s|
  s.name = "sampled"
  s.version = "1.0.0"
  s.summary = "for a test"
  s.authors = ["nobody"]
  s.files = ["lib/sampled.rb"]
  s.require_paths = ["lib"]
end
"""


@pytest.fixture
def ruby(wrap: Callable[..., Wrapped]) -> Wrapped:
    if shutil.which("ruby") is None:
        pytest.skip("ruby is not installed")
    handler = RubyHandler()
    return wrap(*handler.interpreter(str(handler.shim_folder)))


def configure(ruby: Wrapped, **environment: str) -> None:
    wanted = {"PATH": os.environ["PATH"], **environment}
    ruby.send("llm_sandbox_configure", {"environment": wanted})


def test_gems_that_come_later_are_found(ruby: Wrapped, tmp_path: Path) -> None:
    """Gems of the system stay."""
    (tmp_path / "gems/sampled-1.0.0/lib").mkdir(parents=True)
    (tmp_path / "gems/sampled-1.0.0/lib/sampled.rb").write_text("SAMPLED = :found\n")
    (tmp_path / "specifications").mkdir()
    (tmp_path / "specifications/sampled-1.0.0.gemspec").write_text(GEMSPEC)
    assert "cannot load such file" in str(ruby.run("require 'sampled'"))

    configure(ruby, **RubyHandler().library_environment(str(tmp_path)))
    messages = ruby.run(
        "require 'sampled'\nrequire 'rexml/document'\nputs SAMPLED, ENV['GEM_PATH']"
    )

    assert text(messages) == f"found\n{tmp_path}:\n", text(messages, "stderr")


def test_folders_of_libraries_and_variables(ruby: Wrapped, tmp_path: Path) -> None:
    (tmp_path / "beside.rb").write_text("BESIDE = 1\n")
    configure(ruby, RUBYLIB=str(tmp_path), GREETING="é")
    assert text(ruby.run("require 'beside'\nputs BESIDE, ENV['GREETING']")) == "1\né\n"

    configure(ruby)
    assert text(ruby.run("p ENV['GREETING'], ENV['RUBYLIB']")) == "nil\nnil\n"


def test_an_interrupt_between_runs_does_nothing(ruby: Wrapped) -> None:
    assert text(ruby.run("me = Process.pid\nputs 1")) == "1\n"
    for _ in range(3):
        ruby.run("fork { sleep 0.05; Process.kill(:INT, me) }\nnil")
        assert reply(ruby.run("begin; sleep 0.3; rescue Interrupt; end\n1"))["status"] == "ok"

    assert text(ruby.run("puts me == Process.pid")) == "true\n"


def test_displays_of_threads_do_not_hold_up_the_next_run(ruby: Wrapped) -> None:
    code = "gate = Queue.new\nThread.new { gate.pop; 50.times { IRuby.html '<b>x</b>' } }"
    ruby.run(code)
    ruby.run("gate << 1; Thread.pass")

    for number in range(5):
        assert text(ruby.run(f"puts {number}")) == f"{number}\n"


def test_streams_that_the_code_closes(ruby: Wrapped) -> None:
    ruby.run("$stdout.close")
    messages = ruby.run("warn 'still'\n$stdout = STDERR\nputs 'here'")

    assert text(messages, "stderr") == "still\nhere\n"
    assert reply(messages)["status"] == "ok"
