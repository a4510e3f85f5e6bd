"""Other languages: variables stay where there is an interpreter; compile errors are data."""

from llm_sandbox import SandboxSession
from llm_sandbox.exceptions import ToolchainNotFoundError

FIRST_THEN_SECOND = {
    "bash": ("words=(one two three)", 'echo "${#words[@]} words, the last is ${words[-1]}"'),
    "javascript": ("const words = ['one', 'two']", "console.log(words.map(w => w.length))"),
    "ruby": ("words = %w[one two three]", "puts words.map(&:upcase).join(' ')"),
    "r": ("words <- c('one', 'two', 'three')", "cat(nchar(words), '\\n')"),
}

BROKEN = """
#include <iostream>
int main() {
    std::cout << answer << std::endl;
}
"""

for language, (first, second) in FIRST_THEN_SECOND.items():
    try:
        with SandboxSession(lang=language) as session:
            session.run(first)
            print(f"{language}: {session.run(second).stdout}", end="")
    except ToolchainNotFoundError as error:
        print(f"{error.message}; {error.hint}")

try:
    with SandboxSession(lang="cpp") as session:
        error = session.run(BROKEN).error
        print(f"cpp: {error.kind} error in line {error.line}, column {error.column}: {error.value}")
        print(session.run(BROKEN.replace("answer", "6 * 7")).stdout, end="")
except ToolchainNotFoundError as error:
    print(f"{error.message}; {error.hint}")
