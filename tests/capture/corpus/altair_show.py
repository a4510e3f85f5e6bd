# expect: @show
import altair as alt
alt.Chart(alt.InlineData([{'a': 1}])).mark_bar().encode(x='a:O', y='a:Q').show()
