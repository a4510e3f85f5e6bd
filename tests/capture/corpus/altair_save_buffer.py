# expect:
import altair as alt, io
chart = alt.Chart(alt.InlineData([{'a': 1}])).mark_bar().encode(x='a:O', y='a:Q')
chart.save(io.StringIO(), format='html')
