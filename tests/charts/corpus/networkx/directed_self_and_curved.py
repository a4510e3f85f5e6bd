# %% data
pos = {"a": (0.0, 0.0), "b": (1.0, 0.0), "c": (0.5, 1.0)}
edges = [("a", "b"), ("b", "a"), ("b", "c")]
# %% program
import matplotlib.pyplot as plt
import networkx as nx

G = nx.MultiDiGraph()
G.add_edges_from(edges)
fig, ax = plt.subplots()
nx.draw_networkx(G, pos, ax=ax, connectionstyle="arc3,rad=0.2", node_color="gold")
ax.set_title("States")
ax.set_axis_off()
plt.show()
# %% expected
expected = [{"title": "States", "annotations": [{"text": n} for n in "abc"], "series": [
    {"kind": "scatter", "columns": {"x": [0, 1, 0.5], "y": [0, 0, 1]}},
    {"kind": "other", "columns": {"x": [pos[a][0] for a, _ in edges], "y": [pos[a][1] for a, _ in edges], "x_end": [pos[b][0] for _, b in edges], "y_end": [pos[b][1] for _, b in edges]}}]}]
