# expect: @show
import altair as alt
chart = alt.Chart(alt.InlineData([{'a': 1}])).mark_bar().encode(x='a:O', y='a:Q')
display(chart)
chart.display()
chart.show()
