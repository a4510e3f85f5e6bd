import matplotlib.pyplot as plt
import seaborn as sns

sns.set_theme(style="whitegrid")
species = ["Adelie", "Chinstrap", "Gentoo"]
grid = sns.lmplot(
    measured,
    x="bill_length_mm",
    y="bill_depth_mm",
    hue="species",
    hue_order=species,
    height=5,
    aspect=1.4,
)
grid.set(xlabel="Bill length (mm)", ylabel="Bill depth (mm)")
plt.title("Within a species, longer bills are deeper; across species they are not")
grid.tight_layout()
plt.show()

overall = measured["bill_length_mm"].corr(measured["bill_depth_mm"])
print(f"correlation over all birds: {overall:+.2f}")
for name, birds in measured.groupby("species"):
    print(f"  {name:10} {birds['bill_length_mm'].corr(birds['bill_depth_mm']):+.2f}")
