counts = measured.groupby(["island", "species"]).size().unstack(fill_value=0)
axes = counts.plot.barh(stacked=True, figsize=(8, 4), color=["#4c72b0", "#dd8452", "#55a868"])
axes.set(xlabel="Birds", ylabel="", title="Only one species lives on all three islands")
axes.figure.tight_layout()
plt.show()

print(counts)
