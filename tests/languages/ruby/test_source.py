"""Ruby programs as text: comments, what they load, what Ruby says of them."""

from __future__ import annotations

import re
import shutil
import subprocess
import time

import pytest

from llm_sandbox.language_handlers.ruby import RubyHandler
from llm_sandbox.language_handlers.ruby.handler import read_error

HANDLER = RubyHandler()


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a = 1 # gone\nb", "a = 1 \nb"),
        ("# gone", ""),
        ("'# stays' # gone", "'# stays' "),
        ('"# #{x # y} stays" # gone', '"# #{x # y} stays" '),
        ('"a\\"# stays" # gone', '"a\\"# stays" '),
        ('"#{h["# in"]} # stays" # gone', '"#{h["# in"]} # stays" '),
        ("`ls # stays`", "`ls # stays`"),
        ("x = /a#b/ # gone", "x = /a#b/ "),
        ("a / b # gone / c", "a / b "),
        ("x.split(/#/) # gone", "x.split(/#/) "),
        ("x.split /#/ # gone", "x.split /#/ "),
        ("%w[# stays] # gone", "%w[# stays] "),
        ("%q(a (# nested) # stays) # gone", "%q(a (# nested) # stays) "),
        ("a % b # gone", "a % b "),
        ("x %(y) # gone", "x %(y) "),
        ("?# # gone", "?# "),
        ("<<~A # gone\n# stays\nA\n# gone", "<<~A \n# stays\nA\n"),
        ("f(<<-'A', <<B)\n# a\n  A\n# b\nB\n# gone", "f(<<-'A', <<B)\n# a\n  A\n# b\nB\n"),
        ("a << B # gone\nc # gone", "a << B \nc "),
        ("=begin\ngone\n=end\nx", "\n\n\nx"),
        ("x\n=begin\ngone to the end", "x\n\n"),
        ("x # gone\n__END__\n# stays", "x \n__END__\n# stays"),
        (':"a#b" # gone', ':"a#b" '),
        ("$' # gone", "$' "),
    ],
)
def test_comments(code: str, expected: str) -> None:
    assert HANDLER.filter_comments(code) == expected


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ('require "json"', True),
        ("require('json')", True),
        ("require 'json/add/core'", True),
        ("Kernel.require 'json'", True),
        ("x; load './json.rb'", True),
        ("require_relative 'json'", True),
        ("autoload :JSON, 'json'", True),
        ("gem 'json', '~> 2'", True),
        ("require %q(json)", True),
        ("require 'json_pure'", False),
        ("require 'my/json'", False),
        ("puts 'json'", False),
        ("not_require 'json'", False),
    ],
)
def test_what_is_loaded(code: str, found: bool) -> None:
    pattern = HANDLER.get_import_patterns("json")

    assert bool(re.search(pattern, code, re.MULTILINE)) is found


@pytest.mark.parametrize(
    "code",
    [
        "<<A " * 20_000,
        '"#{' * 50_000,
        "%w[" * 50_000,
        "x / " * 50_000,
        "=begin\n" * 30_000,
        "# " * 100_000,
        "x = <<A\nA\n" * 20_000,
        "require '" * 30_000,
        "a" * 200_000,
    ],
)
def test_hostile_text_takes_no_time(code: str) -> None:
    started = time.process_time()
    HANDLER.filter_comments(code)
    re.search(HANDLER.get_import_patterns("json"), code, re.MULTILINE)
    re.search(HANDLER.get_multiline_comment_patterns(), code, re.MULTILINE)
    read_error(code)

    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (
            "main.rb:2:in `g': bad (ArgumentError)\n\tfrom main.rb:4:in `<main>'\n",
            ("ArgumentError", "bad", 2, "exception"),
        ),
        (
            "main.rb:2:in 'Object#g': bad (Odd::Error)\n\tfrom main.rb:4:in '<main>'\n",
            ("Odd::Error", "bad", 2, "exception"),
        ),
        (
            "/lib/json.rb:216:in `parse': 859: unexpected (JSON::ParserError)\n\tfrom main.rb:7:\n",
            ("JSON::ParserError", "859: unexpected", 7, "exception"),
        ),
        (
            "main.rb:3:in `<main>': undefined method `a' (NameError)\n\na + 1\n^\n",
            ("NameError", "undefined method `a'", 3, "exception"),
        ),
        (
            "main.rb:2: syntax error, unexpected `then'\nif then\n",
            ("SyntaxError", "syntax error, unexpected `then'", 2, "syntax"),
        ),
        (
            "main.rb: --> main.rb\nmain.rb:5: syntax error, unexpected end (SyntaxError)\n",
            ("SyntaxError", "syntax error, unexpected end", 5, "syntax"),
        ),
    ],
)
def test_errors_of_programs(output: str, expected: tuple[str, str, int, str]) -> None:
    error = read_error(f"printed before\n{output}")

    assert error is not None
    assert (error.name, error.value, error.line, error.kind) == expected


def test_no_error_of_programs() -> None:
    assert read_error("only words (of a kind)\nmain.rb is mentioned\n") is None


def test_ruby_accepts_the_shim() -> None:
    folder, ruby = HANDLER.shim_folder, shutil.which("ruby")
    if ruby is None:
        pytest.skip("ruby is not installed")
    assert folder is not None
    for path in sorted(folder.glob("*.rb")):
        done = subprocess.run([ruby, "-wc", str(path)], capture_output=True, text=True, timeout=20)
        assert (done.stdout, done.stderr) == ("Syntax OK\n", ""), path.name
