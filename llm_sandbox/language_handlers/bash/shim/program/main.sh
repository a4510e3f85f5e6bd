__llm_code=$(<"$2"); cd -- "$1" && unset -v OLDPWD && shift 2 && eval "unset -v __llm_code; $__llm_code"
# The line above is the first one, because the lines of the program are counted from it. Bash calls
# the program by the name of this file in its messages, which is why it is read by this short name.
