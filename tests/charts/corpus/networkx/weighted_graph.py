# %% data
weighted = [("A", "B", 4), ("B", "C", 2), ("A", "C", 7)]
pos = {"A": (0.0, 0.0), "B": (1.0, 1.0), "C": (2.0, 0.0)}
# %% program
import matplotlib.pyplot as plt
import networkx as nx

G = nx.Graph()
G.add_weighted_edges_from(weighted)
fig, ax = plt.subplots(figsize=(6, 4))
nx.draw_networkx_nodes(G, pos, node_size=700, node_color="orange", ax=ax)
nx.draw_networkx_edges(G, pos, width=[d["weight"] for _, _, d in G.edges(data=True)], alpha=0.6, ax=ax)
nx.draw_networkx_labels(G, pos, font_size=14, ax=ax)
nx.draw_networkx_edge_labels(G, pos, edge_labels=nx.get_edge_attributes(G, "weight"), ax=ax)
ax.set_title("Distances")
ax.axis("off")
plt.tight_layout()
plt.show()
# %% expected
order = [("A", "B", 4), ("A", "C", 7), ("B", "C", 2)]
expected = [{"title": "Distances", "annotations": [{"text": t} for t in ["A", "B", "C", "4", "7", "2"]], "series": [
    {"kind": "scatter", "columns": {"x": [0, 1, 2], "y": [0, 1, 0]}},
    {"kind": "other", "columns": {"x": [pos[a][0] for a, *_ in order], "y": [pos[a][1] for a, *_ in order],
                                  "x_end": [pos[b][0] for _, b, _ in order], "y_end": [pos[b][1] for _, b, _ in order]}}]}]
