"""Bring figures back as data: every figure the code shows arrives in `result.plots`."""

from llm_sandbox import ArtifactSandboxSession

CODE = """
import matplotlib.pyplot as plt
import numpy as np

x = np.linspace(0, 2 * np.pi, 200)
for harmonic in (1, 2, 3):
    plt.figure()
    plt.plot(x, np.sin(harmonic * x))
    plt.title(f"harmonic {harmonic}")
    plt.show()
"""

with ArtifactSandboxSession(lang="python") as session:
    result = session.run(CODE)
    for number, plot in enumerate(result.plots, start=1):
        # The ending follows from what the bytes are.
        saved = plot.save(f"harmonic-{number}")
        print(saved, f"{plot.width} x {plot.height}")
