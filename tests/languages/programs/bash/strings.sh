# What expansions make of strings.
path=/var/log/app/server.2024.log.gz
echo "${path##*/} ${path%/*} ${path%%.*} ${path#*.}"
name='  padded  text '
trimmed=${name#"${name%%[![:space:]]*}"}
trimmed=${trimmed%"${trimmed##*[![:space:]]}"}
echo "[$trimmed] ${#trimmed} ${trimmed^^} ${trimmed/ /_} ${trimmed: -4}"
words=(alpha beta gamma)
echo "${words[@]^} ${words[@]/#/pre-} ${words[@]:1:2}"
printf '%q %s\n' "it's here" "${unset_one:-default}"
printf -v padded '%05d|%-6s|%6.2f' 42 left 3.14159
echo "$padded"
