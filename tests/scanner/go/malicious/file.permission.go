//: chmod
package main

import (
	"os"
)

func main() {
	os.Chmod("a", 0o777) //!
}
//: user
package main

import (
	"syscall"
)

func main() {
	syscall.Setuid(0) //!
}
