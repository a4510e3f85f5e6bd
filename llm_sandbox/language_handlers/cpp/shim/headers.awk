# Header list of a C++ source: prints a name for its leading includes by `<...>`, and their lines.
# Prints nothing for headers of C, which compile fast, or for more headers than a name can hold.
{
    line = $0
    sub(/\r$/, "", line)
    if (line ~ /\\$/) exit
    for (;;) {
        if (inside) {
            end = index(line, "*/")
            if (!end) next
            line = substr(line, end + 2)
            inside = 0
        }
        sub(/^[ \t]+/, "", line)
        if (line == "" || line ~ /^\/\//) next
        if (substr(line, 1, 2) != "/*") break
        line = substr(line, 3)
        inside = 1
    }
    if (line !~ /^#[ \t]*include[ \t]*<[A-Za-z0-9_][A-Za-z0-9_.\/+-]*>[ \t]*(\/\/.*)?$/) exit
    sub(/^[^<]*</, "", line)
    sub(/>.*/, "", line)
    if (line !~ /^c[a-z]*$/) heavy = 1
    lines = lines "\n#include <" line ">"
    gsub(/\//, "_", line)
    name = name line ","
}
END { if (heavy && length(name) < 160) print name lines }
