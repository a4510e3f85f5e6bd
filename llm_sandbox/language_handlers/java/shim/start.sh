#!/bin/sh
# Launcher of Java programs, with options for fast start and for the limits of the sandbox:
#   start.sh compile FILE     javac, into the folder `classes` beside the file
#   start.sh run FILE CLASS [ARGUMENT...]  java, the class that was compiled from the file
#   start.sh shell            the persistent shell
#   start.sh script FILE      one cell for the shell, as a program
set -eu

mode=$1
file=${2:-}
shim=$(dirname "$0")
folder=$(dirname "$file")
classes=$folder/classes
store=${XDG_CACHE_HOME:-$HOME/.cache}/llm-sandbox-java
here=$PWD

# What the machine counts as memory is more than the heap: code, classes, stacks.
# shellcheck disable=SC3045 # the shells that are `sh` somewhere have it
limit=$(ulimit -d)
if [ "$limit" = unlimited ]; then
  heap=-XX:MaxRAMPercentage=60
else
  heap=-Xmx$((limit * 5 / 8192 + 8))m
fi
small=-Xms16m # and not a part of the computer's memory, which grows with it

# What an installed library may need is on the class path of those programs that name some: every
# archive there costs the compiler time.
path=$here${CLASSPATH:+:$CLASSPATH}
words='^[[:space:]]*import[[:space:]]+(static[[:space:]]+)?'
if [ "$mode" = compile ] || [ "$mode" = run ]; then
  [ ! -e "$store/done" ] || path=$path:$store/classes # the helper, if the shell has compiled it
  if grep -E "$words" "$file" | grep -Evq "$words(java|javax|jdk|sandbox)\." ||
    grep -Eq '(^|[^[:alnum:]_.])(org|com|net|io)\.[a-z]+\.' "$file"; then
    path="$path:/usr/share/java/*"
  fi
fi

jvm() {
  exec java "$heap" -XX:+UseSerialGC -Xshare:auto -XX:-UsePerfData -XX:+DisplayVMOutputToStderr \
    -Xlog:disable -Xlog:all=error:stderr -XX:ErrorFile=/dev/null -XX:-CreateCoredumpOnCrash \
    -Djava.awt.headless=true -Dfile.encoding=UTF-8 \
    -Dsun.stdout.encoding=UTF-8 -Dsun.stderr.encoding=UTF-8 \
    -Dstdout.encoding=UTF-8 -Dstderr.encoding=UTF-8 "$@"
}

case $mode in
  compile)
    set -- -J"$heap" -J"$small" -J-XX:+UseSerialGC -J-Xshare:auto -J-XX:TieredStopAtLevel=1 \
      -J-XX:-UsePerfData -encoding UTF-8 -g -d "$classes" -cp "$path"
    if grep -q 'sandbox\.' "$file" && [ ! -e "$store/done" ]; then
      set -- "$@" -sourcepath "$here:$shim" -XDignore.symbol.file
    fi
    if [ -z "${CLASSPATH:-}" ]; then
      set -- "$@" -proc:none
    fi
    cd "$folder" # so that the compiler names the file alone
    exec javac "$@" "$(basename "$file")"
    ;;
  run)
    shift 2
    jvm -cp "$classes:$path" "$@"
    ;;
  shell | script)
    mkdir -p "$store/classes"
    if [ -e "$store/done" ]; then
      set -- sandbox.shell.Shell
    else
      set -- "$shim/Start.java" "$shim" "$store"
    fi
    [ -z "$file" ] || set -- "$@" "$file"
    jvm "$small" -XX:TieredStopAtLevel=1 -cp "$store/classes" "$@"
    ;;
esac
