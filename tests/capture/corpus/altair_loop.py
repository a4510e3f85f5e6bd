# expect: @show, @show, @show
import altair as alt
def draw(n):
    display(alt.Chart(alt.InlineData([{'a': n}])).mark_bar().encode(x='a:O', y='a:Q'))
for n in range(3):
    draw(n)
