# %% data
import numpy as np
x = np.arange(14)
y = np.sin(x / 2)
# %% program
import matplotlib.pyplot as plt
plt.step(x, y + 2, label='pre (default)')
plt.plot(x, y + 2, 'o--', color='grey', alpha=0.3)
plt.step(x, y + 1, where='mid', label='mid')
plt.plot(x, y, drawstyle="steps-post", label="post")
plt.legend(title='Parameter where:')
plt.show()
# %% expected
expected = [{"kind": "step", "series": [
    {"kind": "step", "label": "pre (default)", "columns": {"x": x, "y": y + 2}},
    {"kind": "line", "label": None, "columns": {"x": x, "y": y + 2}},
    {"kind": "step", "label": "mid", "columns": {"x": x, "y": y + 1}},
    {"kind": "step", "label": "post", "columns": {"x": x, "y": y}}]}]
