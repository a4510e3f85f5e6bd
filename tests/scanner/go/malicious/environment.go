//: getenv
package main

import (
	"os"
)

func main() {
	os.Getenv("HOME") //!
}
//: all
package main

import (
	"os"
)

func main() {
	_ = os.Environ() //!
}
