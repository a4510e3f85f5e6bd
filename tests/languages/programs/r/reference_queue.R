# A queue as a reference class, which is changed in place.
# Without the package that checks its methods, R says so.
Queue <- suppressMessages(setRefClass("Queue",
  fields = list(items = "list"),
  methods = list(
    put = function(item) {
      items[[length(items) + 1]] <<- item
      invisible(.self)
    },
    take = function() {
      if (length(items) == 0) stop("the queue is empty")
      first <- items[[1]]
      items[[1]] <<- NULL
      first
    },
    size = function() length(items)
  )
))

queue <- Queue$new()
queue$put("a")$put("b")$put("c")
same <- queue
other <- queue$copy()
cat(same$take(), queue$take(), queue$size(), other$size(), "\n")
result <- try({
  queue$take()
  queue$take()
}, silent = TRUE)
cat(inherits(result, "try-error"), conditionMessage(attr(result, "condition")), "\n")
