# %% data
import pandas as pd
df = pd.DataFrame({"a": [1, 2], "b": [3, 4], "c": [5.5, 6]}, index=["one", "two"])
# %% program
df.plot(kind="bar", stacked=True, figsize=(6, 4)).get_figure().savefig("stacked.png")
# %% expected
base = df.cumsum(axis=1) - df
expected = [{"kind": "bar", "stacking": "stacked", "series": [
    {"kind": "bar", "label": "a", "columns": {"x": ["one", "two"], "y": df.a.tolist()}},
    *({"kind": "bar", "label": c, "columns": {"x": ["one", "two"], "y": df[c].tolist(), "base": base[c].tolist()}} for c in "bc")]}]
