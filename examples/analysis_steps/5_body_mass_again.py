heavier = measured.groupby(["species", "sex"])["body_mass_g"].mean().unstack()
print("males are heavier by, in grams:")
print((heavier["male"] - heavier["female"]).round().astype(int).to_string())

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5))
sns.violinplot(
    measured,
    x="species",
    y="body_mass_g",
    order=species,
    hue="sex",
    split=True,
    inner="quart",
    ax=left,
)
left.set(xlabel="", ylabel="Body mass (g)", title="Mass by species and sex")
correlations = measured.drop(columns="year").corr(numeric_only=True)
sns.heatmap(correlations, annot=True, fmt=".2f", cmap="vlag", center=0, ax=right)
right.set_title("Correlation of the measurements")
figure.tight_layout()
plt.show()
