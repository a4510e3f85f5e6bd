# Options of a command line, short and with values.
parse() {
  local OPTIND=1 option verbose=0 name=nobody
  while getopts ':vn:' option; do
    case $option in
      v) ((++verbose)) ;;
      n) name=$OPTARG ;;
      :) echo "-$OPTARG needs a value"; return 2 ;;
      *) echo "no such option: -$OPTARG"; return 2 ;;
    esac
  done
  shift $((OPTIND - 1))
  echo "verbose=$verbose name=$name rest=$*"
}
parse -v -n Ada one two
parse -vvv
parse -x || echo "status $?"
parse -n || echo "status $?"
