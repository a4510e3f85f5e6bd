# expect:
# error: ValueError
import altair as alt
alt.Chart().mark_bar().encode(x='a').save('a.json')
