# %% data
groups = {"north": [1, 5, 2], "south": [2, 2, 8], "west": [0, 1, 0]}
# %% program
import matplotlib.pyplot as plt
for name, values in groups.items():
    fig, ax = plt.subplots()
    ax.plot(values, "s--")
    ax.set_title(f"Region {name}")
    fig.savefig(f"{name}.png")
    plt.close(fig)
# %% expected
expected = [{"kind": "line", "title": f"Region {name}", "series": [{"kind": "line", "columns": {"x": [0, 1, 2], "y": values}}]}
            for name, values in groups.items()]
