# Evaluation of the user's expressions as in R's own top-level loop.

# Number of shim calls below the user's code: programs check whether they are the outermost.
depth <- -1L
# Those of evaluating itself: `withVisible`, `eval` twice, and that of `outermost`.
calls_between <- 4L

replace_depth <- function() {
  replace_in_base("sys.nframe", function() {
    frames <- .Internal(sys.nframe())
    if (frames == depth) 0L else frames
  })
}

# An expression so that to it the frame around it is the workspace, as it is for R's own loop.
outermost <- function(expression) {
  as.call(list(
    as.name(".Internal"), call("eval", call("quote", expression), globalenv(), NULL)
  ))
}

# Return whether a condition names a shim call as that of code outside of all functions.
at_top <- function(call) {
  is.call(call) && identical(call, quote(eval(user_expression, user_globals)))
}

# What is only signalled goes on where nobody takes it.
is_only_signalled <- function(caller) identical(caller, signalCondition)

restart_named <- function(name) {
  Find(function(restart) identical(restart$name, name), computeRestarts())
}

on_warning <- function(condition) {
  if (is.null(restart_named("muffleWarning"))) return()
  level <- as.numeric(getOption("warn"))
  if (identical(level, 0)) {
    keep_warning(condition)
  } else if (identical(level, 1) && at_top(conditionCall(condition))) {
    warning(without_call(condition))
  } else {
    return()
  }
  invokeRestart("muffleWarning")
}

# As R's own loop: methods of the user's are found, whatever else is called `print`.
print_value <- function(value) {
  place <- list2env(list(x = value), parent = globalenv())
  if (isS4(value)) {
    eval(as.call(list(methods::show, quote(x))), place)
  } else if (is.object(value) || is.function(value)) {
    eval(as.call(list(base::print, quote(x))), place)
  } else {
    print.default(value)
  }
}
