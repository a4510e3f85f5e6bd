//: unknown method
package main

import (
	"os"
	"os/exec"
	"reflect"
)

func main() {
	c := exec.Command
	reflect.ValueOf(c).MethodByName(os.Args[1]).Call(nil) //!
}
