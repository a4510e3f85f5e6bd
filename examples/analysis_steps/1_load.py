import pandas as pd

penguins = pd.read_csv("penguins.csv")
measured = penguins.dropna()

print(f"{len(penguins)} penguins, {len(measured)} of them with every measurement")
print(
    measured.groupby("species")[["bill_length_mm", "flipper_length_mm", "body_mass_g"]]
    .mean()
    .round(1)
)
