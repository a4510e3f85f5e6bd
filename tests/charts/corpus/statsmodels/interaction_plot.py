# %% data
dose = ["low", "low", "mid", "mid", "high", "high"]
sex = ["f", "m", "f", "m", "f", "m"]
days = [3.0, 4.0, 5.0, 5.5, 8.0, 6.0]
# %% program
import matplotlib.pyplot as plt
import pandas as pd
from statsmodels.graphics.factorplots import interaction_plot

fig, ax = plt.subplots(figsize=(6, 4))
interaction_plot(x=pd.Series(dose), trace=pd.Series(sex), response=pd.Series(days), colors=["red", "blue"],
                 markers=["D", "^"], ms=8, ax=ax, xlabel="Dose", ylabel="Mean days", legendtitle="Sex")
ax.set_title("Dose and sex")
plt.show()
# %% expected
names = ["high", "low", "mid"]
mean = {(d, s): v for d, s, v in zip(dose, sex, days)}
expected = [{"kind": "line", "title": "Dose and sex", "x": {"label": "Dose", "scale": "category", "ticks": names}, "series": [
    {"kind": "line", "label": s, "columns": {"x": names, "y": [mean[n, s] for n in names]}} for s in "fm"]}]
