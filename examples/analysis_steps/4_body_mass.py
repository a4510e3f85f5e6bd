heavier = measured.groupby(["species", "sex"])["body_mas_g"].mean().unstack()
print((heavier["male"] - heavier["female"]).round())
