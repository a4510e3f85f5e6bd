# A stack as an S4 class with validity and generics.
setClass("Stack", representation(items = "list", limit = "numeric"),
  prototype(items = list(), limit = 3),
  validity = function(object) if (length(object@items) > object@limit) "too many items" else TRUE
)
setGeneric("push", function(stack, item) standardGeneric("push"))
setMethod("push", "Stack", function(stack, item) {
  stack@items <- c(stack@items, list(item))
  validObject(stack)
  stack
})
setMethod("length", "Stack", function(x) length(x@items))
setMethod("show", "Stack", function(object) cat("<stack of", length(object), "items>\n"))

stack <- new("Stack")
for (item in list("a", 2, TRUE)) stack <- push(stack, item)
print(stack)
cat(tryCatch(push(stack, "more"), error = function(e) "refused"), "\n")
cat(isVirtualClass("Stack"), is(stack, "Stack"), length(stack), "\n")
