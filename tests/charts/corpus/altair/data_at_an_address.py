# %% data
rows = [{"t": 1, "v": 3}, {"t": 2, "v": 5}]

# %% program
import altair as alt

remote = alt.Chart("https://example.com/data.csv").mark_bar().encode(
    x=alt.X("month:O", title="Month"),
    y=alt.Y("mean(rain):Q", title="Rain"),
)
local = alt.Chart(alt.Data(values=rows)).mark_line().encode(
    x=alt.X("t:Q", title="Time"),
    y=alt.Y("v:Q", title="Value"),
)
alt.hconcat(remote.properties(title="Far"), local.properties(title="Near"))

# %% expected
expected = [{"kind": "multi", "charts": [
    {"kind": "bar", "title": "Far", "x": {"label": "Month"}, "unread": ["address"], "series": [{"kind": "bar", "columns": {}}]},
    {"kind": "line", "title": "Near", "series": [{"kind": "line", "columns": {"x": [1, 2], "y": [3, 5]}}]}]}]
