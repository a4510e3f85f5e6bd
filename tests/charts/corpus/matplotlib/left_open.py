# %% data
y = [1.5, 2.5, 0.5]
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.step([0, 1, 2], y, where="mid", label="state")
ax.set_title("Left open")
# %% expected
expected = [{"kind": "step", "title": "Left open", "series": [{"kind": "step", "label": "state", "columns": {"x": [0, 1, 2], "y": y}}]}]
