# Reads the strings and numbers of a flat JSON object by regular expressions.
json='{"name": "Ada", "year": 1815, "tags": "math \"notes\"", "alive": false}'
pattern='^[{,][[:space:]]*"([^"]*)":[[:space:]]*("(([^"\\]|\\.)*)"|-?[0-9]+|true|false|null)(.*)$'
rest=$json
while [[ $rest =~ $pattern ]]; do
  key=${BASH_REMATCH[1]} value=${BASH_REMATCH[2]} rest=${BASH_REMATCH[5]}
  case $value in
    \"*) kind=string value=${BASH_REMATCH[3]//\\\"/\"} ;;
    true | false) kind=boolean ;;
    null) kind=null ;;
    *) kind=number ;;
  esac
  printf '%-8s %-8s %s\n' "$key" "$kind" "$value"
done
echo "left: $rest"
