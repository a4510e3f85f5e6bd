# %% data
x = [0.1, 0.2, 0.3]
y = [1e-9, 2.5e-9, 1e300]
# %% program
from matplotlib.figure import Figure
from matplotlib.backends.backend_agg import FigureCanvasAgg

fig = Figure(figsize=(4, 3))
FigureCanvasAgg(fig)
ax = fig.add_subplot()
ax.plot(x, y, "k-", label="tiny and huge")
ax.set_title("Object API")
fig.savefig("object.png")
# %% expected
expected = [{"kind": "line", "title": "Object API", "series": [{"kind": "line", "label": "tiny and huge", "color": "#000000", "columns": {"x": x, "y": y}}]}]
