# expect: @savefig
import altair as alt, os
chart = alt.Chart(alt.InlineData([{'a': 1}])).mark_bar().encode(x='a:O', y='a:Q')
chart.save('a.html')
chart.save('a.json')
assert sorted(os.listdir()) == ['a.html', 'a.json']
