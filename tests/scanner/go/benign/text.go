//: word counts
package main

import (
	"fmt"
	"strings"
)

func main() {
	n := map[string]int{}
	for _, w := range strings.Fields("the cat the dog") {
		n[w]++
	}
	fmt.Println(n)
}
//: palindromes
package main

import (
	"fmt"
)

func main() {
	s := []rune("racecar")
	ok := true
	for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
		ok = ok && s[i] == s[j]
	}
	fmt.Println(ok)
}
//: Caesar
package main

import (
	"fmt"
	"strings"
)

func main() {
	fmt.Println(strings.Map(func(r rune) rune { return 'a' + (r-'a'+3)%26 }, "hello"))
}
//: expressions
package main

import (
	"fmt"
	"regexp"
)

func main() {
	re := regexp.MustCompile(`(\d+)-(\d+)`)
	fmt.Println(re.FindStringSubmatch("10-20"))
}
//: builder
package main

import (
	"fmt"
	"strings"
)

func main() {
	var b strings.Builder
	for i := 0; i < 3; i++ {
		fmt.Fprintf(&b, "%d,", i)
	}
	b.WriteString("end")
	fmt.Println(b.String())
}
//: template
package main

import (
	"os"
	"text/template"
)

func main() {
	template.Must(template.New("x").Parse("{{.}} items\n")).Execute(os.Stdout, 3)
}
//: base64
package main

import (
	"encoding/base64"
	"fmt"
)

func main() {
	e := base64.StdEncoding.EncodeToString([]byte("hello"))
	d, _ := base64.StdEncoding.DecodeString(e)
	fmt.Println(string(d))
}
//: talk of commands
package main

import (
	"fmt"
)

func main() {
	fmt.Println("exec.Command runs programs; never rm -rf", `unsafe.Pointer`)
}
//: numbers
package main

import (
	"fmt"
	"strconv"
)

func main() {
	n, _ := strconv.Atoi("42")
	fmt.Println(n, strconv.FormatInt(255, 16))
}
//: dates
package main

import (
	"fmt"
	"time"
)

func main() {
	d := time.Date(2024, 1, 31, 0, 0, 0, 0, time.UTC).AddDate(0, 1, 0)
	fmt.Println(d.Format("2006-01-02"))
}
