# Evaluates expressions in reverse Polish notation.
evaluate() {
  local stack=() token top left right
  for token in $1; do
    case $token in
      [+*/-])
        top=${#stack[@]}
        ((top >= 2)) || { echo "too few values"; return 1; }
        left=${stack[top - 2]} right=${stack[top - 1]}
        unset 'stack[top-1]' 'stack[top-2]'
        stack+=($((left $token right)))
        ;;
      *) stack+=("$token") ;;
    esac
  done
  echo "${stack[*]}"
}
set -f
evaluate '3 4 + 2 *'
evaluate '15 7 1 1 + - / 3 * 2 1 1 + + -'
evaluate '1 +' || echo "refused"
set +f
