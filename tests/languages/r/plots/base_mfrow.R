# expects: image/png
old <- par(mfrow = c(2, 2))
plot(1:3)
hist(mtcars$mpg)
boxplot(mpg ~ cyl, mtcars)
barplot(table(mtcars$gear))
par(old)
