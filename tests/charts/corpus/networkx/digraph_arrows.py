# %% data
edges = [("ingest", "clean"), ("clean", "train"), ("clean", "report"), ("train", "report")]
pos = {"ingest": (0.0, 1.0), "clean": (1.0, 1.0), "train": (2.0, 2.0), "report": (3.0, 1.0)}
# %% program
import matplotlib.pyplot as plt
import networkx as nx

G = nx.DiGraph()
G.add_edges_from(edges)

plt.figure(figsize=(8, 4))
nx.draw(G, pos, with_labels=True, node_color="lightblue", node_size=2500, arrowsize=20, font_size=9)
plt.title("Pipeline")
plt.margins(0.2)
plt.show()
# %% expected
nodes = ["ingest", "clean", "train", "report"]
expected = [{"kind": "scatter", "title": "Pipeline", "annotations": [{"text": n} for n in nodes], "series": [
    {"kind": "scatter", "columns": {"x": [pos[n][0] for n in nodes], "y": [pos[n][1] for n in nodes]}},
    {"kind": "other", "columns": {"x": [pos[a][0] for a, _ in edges], "y": [pos[a][1] for a, _ in edges],
                                  "x_end": [pos[b][0] for _, b in edges], "y_end": [pos[b][1] for _, b in edges]}}]}]
