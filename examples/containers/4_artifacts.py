"""Every figure and every file that code makes in the container comes back as data."""

import base64
from argparse import ArgumentParser
from pathlib import Path

from llm_sandbox import ArtifactSandboxSession

parser = ArgumentParser()
parser.add_argument("--backend", choices=["docker", "podman"], default="docker")
backend = parser.parse_args().backend

CODE = """
import matplotlib.pyplot as plt
plt.plot([1, 4, 9, 16])
plt.title("squares")
plt.show()
open("squares.csv", "w").write("n,square\\n1,1\\n2,4\\n")
"""

with ArtifactSandboxSession(backend=backend, lang="python") as session:
    result = session.run(CODE)

for number, plot in enumerate(result.plots, 1):
    path = Path(f"squares-{number}.{plot.format.value}")
    path.write_bytes(base64.b64decode(plot.content_base64))
    print("saved", path)
for file in result.files:
    print("made:", file.name)
