# expect: @show, @show
import altair as alt
chart = alt.layer(*(alt.Chart(alt.InlineData([{'a': 1}])).mark_bar().encode(x='a:O', y='a:Q') for _ in range(2)))
chart.show()
# %%
chart
