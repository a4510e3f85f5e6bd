# shellcheck shell=bash disable=SC2034 # main.sh reads __llm_code
# Bash shim: runs cells in one persistent shell; see guest/wrapper.py for the protocol.
#
# An `exit`, an error that ends a shell, or an interrupt, leads to the EXIT trap, whatever was going
# on. There the process continues as a new shell, which restores the state of this one. Code that
# sets its own EXIT trap ends the shell when it exits.
#
# 200 requests, 201 answers, 202 to 204 the program's own streams, as they are without redirections;
# programs that the code starts do not get them.

__llm_shim=$PWD __llm_here=$1 __llm_follows=${2-} __llm_state='' __llm_running=''

__llm_hide() { # copy descriptor $1 to $2, out of sight of other programs
  local fd=10
  while [[ -e /dev/fd/$fd ]]; do ((++fd)); done
  # What a redirection replaces is kept at the first free descriptor from 10, closed to others, and
  # so are copies of that.
  eval "{ exec $2<&$fd; } $1<&-"
}
for __llm_fd in 3 4 0 1 2; do
  __llm_hide "$__llm_fd" "$((200 + (__llm_fd + 2) % 5))"
done
exec 3<&- 4>&-
set --
shopt -s expand_aliases
if [[ -n $__llm_follows ]]; then
  IFS= read -r -N 2000000000 __llm_state <&205
  exec 205<&-
fi

__llm_start() { # take up what the last shell left, or begin
  builtin cd -- "$__llm_here" || builtin cd / || :
  if [[ -n $__llm_state ]]; then
    OLDPWD=$__llm_old __llm_state=''
    [[ -n $OLDPWD ]] || unset -v OLDPWD
  else
    unset -v OLDPWD
    builtin printf 'kind 5\nready\n\n' >&201
  fi
  __llm_flags=${__llm_flags-} __llm_traps=${__llm_traps-}
  unset -v __llm_exit __llm_end
  trap __llm_interrupted INT
  trap '{ __llm_ended "$?" "$(trap -p)"; } 2>/dev/null' EXIT
  trap '{ __llm_failed "$LINENO" "$BASH_COMMAND"; } 2>/dev/null' ERR
  # Those of the code, if it has any.
  eval "$__llm_traps"
  __llm_traps='' __llm_told=''
}

__llm_failed() { # the ERR trap; it comes for the whole of the code as well
  # shellcheck disable=SC2016 # it is as main.sh says it
  [[ $2 == 'eval "$__llm_code"' ]] || __llm_line=$1 __llm_command=$2
}

__llm_read() { # the next message, into __llm_kind and variables named as its fields
  local size LC_ALL=C __llm_field
  __llm_kind='' __llm_name='' __llm_value='' __llm_code='' __llm_has=''
  while IFS= builtin read -r -u 200 __llm_field; do
    [[ -n $__llm_field ]] || return 0
    size=${__llm_field##* } __llm_field=${__llm_field% *}
    case $__llm_field in
      kind | name | value | code) ;;
      *) __llm_field=rest ;;
    esac
    IFS= builtin read -r -N "$size" -u 200 "__llm_$__llm_field"
    IFS= builtin read -r -u 200 _
    __llm_has+=" $__llm_field"
  done
  return 1
}

__llm_next() { # the next piece of code, into __llm_code
  local number flag
  while __llm_read; do
    case $__llm_kind in
      run)
        __llm_line='' __llm_command='' __llm_running=1
        # Not in this function, whose own commands would be traced.
        for flag in x v; do
          [[ $__llm_flags != *$flag* ]] || __llm_code="{ set -$flag; } 2>/dev/null;$__llm_code"
        done
        for flag in f u e; do
          [[ $__llm_flags != *$flag* ]] || set "-$flag"
        done
        return 0
        ;;
      set)
        if [[ $__llm_has == *value* ]]; then
          builtin export "$__llm_name=$__llm_value"
        else
          builtin unset -v "$__llm_name"
        fi
        ;;
    esac
  done
  trap - EXIT
  return 1
}

__llm_done() { # the code has come to its end
  __llm_flags=$- __llm_running=''
  set +efuvx
  if (($1 == 0)); then
    builtin printf 'kind 4\ndone\nstatus 2\nok\n\n' >&201
  else
    __llm_explain "$1"
    __llm_tell 'done' status error code "$1"
  fi
}

__llm_tell() { # a message: its kind, then names and values of fields
  local LC_ALL=C text="kind ${#1}"$'\n'"$1"$'\n'
  shift
  while (($#)); do
    text+="$1 ${#2}"$'\n'"$2"$'\n'
    shift 2
  done
  builtin printf '%s\n' "$text" >&201
}

__llm_explain() { # say why the code failed with a status
  local words status=$1
  if ((status == 2)); then
    # The status of a syntax error, and of much else.
    words=$(builtin printf %s "$__llm_code" | "$BASH" --norc -O extglob -n 2>&1)
    if [[ $words =~ ': line '([0-9]+)': '([^$'\n']*) ]]; then
      __llm_tell error name SyntaxError value "${BASH_REMATCH[2]}" line "${BASH_REMATCH[1]}" \
        type syntax
      __llm_read
      return
    fi
  fi
  local value="${__llm_command:+$__llm_command: }exit status $status"
  __llm_tell error name ExitStatus value "$value" line "$__llm_line" type exception
  __llm_read
}

exit() {
  {
    __llm_exit=${1-$?}
    if [[ $BASHPID == "$$" && $#-$__llm_exit =~ ^[01]-[0-9]+$ &&
      $(trap -p EXIT) == *__llm_ended* ]]; then
      # The one way to leave all functions, and their variables, behind.
      __llm_end='exit'
      : "${__llm_nothing:?}"
    fi
  } 2>/dev/null
  builtin exit "${@-$__llm_exit}"
}

__llm_interrupted() { # the INT trap
  [[ -n $__llm_running ]] || return 0
  {
    __llm_running=''
    __llm_traps=$(trap -p EXIT)
    trap '{ __llm_ended "$?" "$(trap -p)"; } 2>/dev/null' EXIT
    __llm_exit=130 __llm_end=interrupt
    : "${__llm_nothing:?}"
  } 2>/dev/null
}

__llm_ended() { # the EXIT trap; replaces this shell by a new one of the same state
  __llm_flags=$-
  __llm_running=''
  set +efuvx
  __llm_traps=$2$'\n'${__llm_traps-}
  __llm_exit=$((${__llm_exit-$1} & 255))
  exec 0<&202 1>&203
  __llm_ending=('done' status error code "$__llm_exit")
  case ${__llm_end-} in
    exit) __llm_ending=('done' exit "$__llm_exit") ;;
    interrupt)
      __llm_tell error name Interrupt value '' type exception
      __llm_read
      ;;
    *)
      if ((__llm_exit)); then
        __llm_explain "$__llm_exit"
      else
        __llm_ending=('done' exit 0)
      fi
      ;;
  esac
  __llm_here=$PWD __llm_old=${OLDPWD-} __llm_state=told __llm_code=''
  # No variable of a function: it would stand for one of the code's.
  __llm_told=$(__llm_tell_state)
  builtin cd -- "$__llm_shim" || builtin exit "$__llm_exit"
  # Before the shell is replaced: from here on it is not interrupted.
  __llm_tell "${__llm_ending[@]}"
  # A copy of a copy: those are not closed to other programs.
  exec "$BASH" --noprofile --norc main.sh "$__llm_here" follows \
    0<&200 1>&201 3<&0 4>&1 0<&202 1>&203 2>&204 205<<<"$__llm_told"
}

__llm_tell_state() { # the state of this shell, as commands
  declare -p
  builtin umask -p
  declare -f
  alias -p
  shopt -p
  set +o
}
