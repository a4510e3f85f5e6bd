# %% data
rows = [["Country", "Year", "Population"], ["US", 2000, 282200000], ["Canada", 2000, 27790000], ["Mexico", 2005, 103800000]]

# %% program
import plotly.figure_factory as ff

fig = ff.create_table(
    rows,
    height_constant=40,
    colorscale=[[0, "#00083e"], [0.5, "#ededee"], [1, "#ffffff"]],
)
for note in fig.layout.annotations:
    note.font.size = 14
fig.update_layout(
    width=600,
    margin=dict(t=20, b=20),
)
fig.show()

# %% expected
# The colours behind the texts stand for nothing; the table itself is the texts.
expected = [{"annotations": [{"text": str(cell)} for row in rows for cell in row]}]
