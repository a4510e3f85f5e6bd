//: remove
package main

import (
	"os"
)

func main() {
	os.Remove("a.txt") //!
}
//: tree
package main

import (
	"os"
)

func main() {
	os.RemoveAll("data") //!
}
//: alias
package main

import (
	sys "os"
)

func main() {
	f := sys.RemoveAll
	f("data") //!
}
//: syscall
package main

import (
	"syscall"
)

func main() {
	syscall.Unlink("a") //!
}
