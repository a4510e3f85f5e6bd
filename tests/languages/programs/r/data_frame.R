# A small analysis of a data frame: groups, joins, shapes.
sales <- data.frame(
  shop = c("north", "south", "north", "east", "south", "north"),
  month = c(1, 1, 2, 1, 2, 3),
  amount = c(120.5, 80, 95.25, 60, 110, 130)
)
managers <- data.frame(shop = c("north", "south", "west"), name = c("Ada", "Ben", "Cleo"))
totals <- aggregate(amount ~ shop, sales, sum)
print(totals[order(-totals$amount), ], row.names = FALSE)
joined <- merge(totals, managers, by = "shop", all.x = TRUE)
print(joined)
wide <- reshape(sales, idvar = "shop", timevar = "month", direction = "wide")
print(wide, row.names = FALSE)
print(with(sales, tapply(amount, shop, mean)))
