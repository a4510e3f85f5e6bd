# Dates: differences, sequences, formats, leap years.
start <- as.Date("2024-01-31")
cat(format(seq(start, by = "1 week", length.out = 3), "%d.%m.%Y"), "\n")
cat(as.integer(as.Date("2024-12-25") - start), "days\n")
years <- c(1900, 2000, 2023, 2024)
leap <- (years %% 4 == 0 & years %% 100 != 0) | years %% 400 == 0
cat(years[leap], "\n")
stamp <- as.POSIXct("2024-03-10 14:30:00", tz = "UTC")
cat(format(stamp + 90 * 60, "%Y-%m-%dT%H:%M:%SZ", tz = "UTC"), "\n")
cat(as.numeric(difftime(stamp, as.POSIXct("2024-03-09", tz = "UTC"), units = "hours")), "\n")
months <- cut(as.Date(c("2024-02-10", "2024-02-28", "2024-04-01")), "month")
print(table(months))
