# Classes of the S3 kind: generics, methods, inheritance.
area <- function(shape, ...) UseMethod("area")
area.default <- function(shape, ...) stop("no area")
area.circle <- function(shape, ...) pi * shape$radius^2
area.rectangle <- function(shape, ...) shape$width * shape$height
describe <- function(shape) UseMethod("describe")
describe.default <- function(shape) sprintf("%s with area %.2f", class(shape)[1], area(shape))
describe.square <- function(shape) paste("equal sides,", NextMethod())
print.shape <- function(x, ...) cat("<", describe(x), ">\n", sep = "")
"+.shape" <- function(e1, e2) area(e1) + area(e2)

circle <- function(radius) structure(list(radius = radius), class = c("circle", "shape"))
rectangle <- function(width, height) {
  structure(list(width = width, height = height), class = c("rectangle", "shape"))
}
square <- function(side) {
  structure(rectangle(side, side), class = c("square", "rectangle", "shape"))
}

for (shape in list(circle(1), rectangle(2, 3), square(4))) print(shape)
cat(square(2) + rectangle(1, 5), "\n")
cat(inherits(square(1), "rectangle"), inherits(circle(1), "rectangle"), "\n")
