"""Use packages that are not there yet: they are installed before the code runs."""

from llm_sandbox import SandboxSession

CODE = """
from tabulate import tabulate

print(tabulate([["Adelie", 152], ["Gentoo", 124], ["Chinstrap", 68]], headers=["species", "birds"]))
"""

with SandboxSession(lang="python") as session:
    result = session.run(CODE, libraries=["tabulate"])
    print(result.stdout, end="")
