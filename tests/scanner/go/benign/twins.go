//: variable named exec
package main

import (
	"fmt"
)

type runner struct{}

func (runner) Command(s string) string { return s }

func main() {
	exec := runner{}
	fmt.Println(exec.Command("id"))
}
//: parameter named os
package main

import (
	"fmt"
)

type thing struct{}

func (thing) Remove(s string) {}

func use(os thing) {
	os.Remove("a")
	fmt.Println("x")
}

func main() {
	use(thing{})
}
//: own functions
package main

import (
	"fmt"
)

func system(s string) string { return s }
func Command(s string) string { return s }

func main() {
	fmt.Println(system("a"), Command("b"))
}
//: sizes
package main

import (
	"fmt"
	"unsafe"
)

func main() {
	fmt.Println(unsafe.Sizeof(int64(0)))
}
//: reflect on own type
package main

import (
	"fmt"
	"reflect"
)

type t struct{}

func (t) Hello() string { return "x" }

func main() {
	fmt.Println(reflect.ValueOf(t{}).MethodByName("Hello").Call(nil), reflect.TypeOf(t{}).Name())
}
//: table of functions
package main

import (
	"fmt"
)

func main() {
	ops := map[string]func(int, int) int{"+": func(a, b int) int { return a + b }}
	fmt.Println(ops["+"](1, 2))
}
//: arguments and exit
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) > 5 {
		os.Exit(1)
	}
	fmt.Fprintln(os.Stderr, "x")
}
//: looking for a program
package main

import (
	"fmt"
	"os/exec"
)

func main() {
	p, err := exec.LookPath("go")
	fmt.Println(p, err)
}
//: addresses
package main

import (
	"fmt"
	"net"
)

func main() {
	fmt.Println(net.ParseIP("10.0.0.1"), net.JoinHostPort("h", "80"))
}
//: urls
package main

import (
	"fmt"
	"net/url"
)

func main() {
	u, _ := url.Parse("https://example.org/a?b=1")
	fmt.Println(u.Host, u.Query().Get("b"))
}
//: status words
package main

import (
	"fmt"
	"net/http"
)

func main() {
	fmt.Println(http.StatusText(404), http.MethodGet)
}
//: signals handled
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
}
//: alias of a harmless package
package main

import (
	exec "strings"
	"fmt"
)

func main() {
	fmt.Println(exec.ToUpper("a"))
}
