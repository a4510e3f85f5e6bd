. ./shim.bash; { eval "$__llm_state"; } 2>/dev/null; __llm_start; while __llm_next; do eval "$__llm_code"; { __llm_done "$?"; } 2>/dev/null; done
# The line above is the first one, because the lines of the code are counted from it. Bash calls the
# code by the name of this file in its messages, which is why the file is read by this short name.
