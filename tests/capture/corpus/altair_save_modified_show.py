# expect: @savefig, @show
import altair as alt
chart = alt.Chart(alt.InlineData([{'a': 1}])).mark_bar().encode(x='a:O', y='a:Q')
chart.save('a.html')
chart = chart.properties(title='t')
chart.show()
