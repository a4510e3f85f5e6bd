# expects: image/png image/png
h <- hist(mtcars$mpg)
print(h$counts)
b <- boxplot(mpg ~ cyl, mtcars)
b$n
