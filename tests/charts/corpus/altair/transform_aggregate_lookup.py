# %% data
import pandas as pd
orders = pd.DataFrame({"id": [1, 2, 1, 3, 2, 1], "amount": [10, 20, 30, 40, 50, 60]})
people = pd.DataFrame({"key": [1, 2, 3], "who": ["Ann", "Bob", "Cat"]})

# %% program
import altair as alt

chart = alt.Chart(orders).transform_lookup(
    lookup="id", from_=alt.LookupData(data=people, key="key", fields=["who"])
).transform_aggregate(total="sum(amount)", groupby=["who"]).mark_bar().encode(x="who:N", y="total:Q")
chart.show()

# %% expected
expected = [{"kind": "bar", "series": [{"columns": {"x": ["Ann", "Bob", "Cat"], "y": [100, 70, 40]}}]}]
