# %% data
links = [(0, 1), (1, 2), (2, 0), (2, 3)]
pos = {0: (0.0, 0.0), 1: (1.0, 0.0), 2: (1.0, 1.0), 3: (2.0, 2.0)}
rank = {0: 0.1, 1: 0.2, 2: 0.4, 3: 0.3}
# %% program
import matplotlib.pyplot as plt
import networkx as nx

G = nx.DiGraph(links)
fig, ax = plt.subplots(figsize=(6, 5))
values = [rank[n] for n in G.nodes]
nodes = nx.draw_networkx_nodes(G, pos, node_color=values, cmap=plt.cm.viridis, node_size=600, ax=ax)
nx.draw_networkx_edges(G, pos, connectionstyle="arc3,rad=0.1", arrows=True, ax=ax)
nx.draw_networkx_labels(G, pos, font_color="white", ax=ax)
cbar = fig.colorbar(nodes, ax=ax)
cbar.set_label("PageRank")
ax.set_title("Link graph")
ax.set_axis_off()
plt.show()
# %% expected
expected = [{"kind": "scatter", "title": "Link graph", "z": {"label": "PageRank"}, "annotations": [{"text": str(n)} for n in range(4)], "series": [
    {"kind": "scatter", "columns": {"x": [pos[n][0] for n in range(4)], "y": [pos[n][1] for n in range(4)], "value": [rank[n] for n in range(4)]}},
    {"kind": "other", "columns": {"x": [pos[a][0] for a, _ in links], "y": [pos[a][1] for a, _ in links],
                                  "x_end": [pos[b][0] for _, b in links], "y_end": [pos[b][1] for _, b in links]}}]}]
