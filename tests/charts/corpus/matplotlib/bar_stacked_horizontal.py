# %% data
teams = ["red", "blue", "green"]
won, lost = [10, 7, 3], [2, 5, 9]
# %% program
import matplotlib.pyplot as plt
plt.barh(teams, won, label="won")
plt.barh(teams, lost, left=won, label="lost")
plt.legend()
plt.show()
# %% expected
expected = [{"kind": "bar", "orientation": "horizontal", "stacking": "stacked",
    "series": [{"kind": "bar", "label": "won", "columns": {"x": won, "y": teams}},
               {"kind": "bar", "label": "lost", "columns": {"x": lost, "y": teams, "base": won}}]}]
