//: interpreter
package main

import (
	"github.com/traefik/yaegi/interp"
)

func main() {
	i := interp.New(interp.Options{})
	i.Eval("1 + 1") //!
}
