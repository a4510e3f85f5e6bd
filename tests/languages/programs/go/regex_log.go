// Takes a log apart by a regular expression with named groups.
package main

import (
	"fmt"
	"regexp"
	"strings"
)

const log = `10:01 INFO  started in 12ms
10:02 ERROR disk full: 97%
nonsense
10:05 INFO  request took 340ms`

func main() {
	line := regexp.MustCompile(`^(?P<time>\d{2}:\d{2}) (?P<level>[A-Z]+)\s+(?P<text>.*)$`)
	took := regexp.MustCompile(`(\d+)ms`)
	for _, text := range strings.Split(log, "\n") {
		found := line.FindStringSubmatch(text)
		if found == nil {
			fmt.Printf("? %q\n", text)
			continue
		}
		fmt.Println(found[line.SubexpIndex("level")], found[line.SubexpIndex("time")], took.FindString(text))
	}
	fmt.Println(took.ReplaceAllString("a 5ms b 10ms", "<$1>"))
}
