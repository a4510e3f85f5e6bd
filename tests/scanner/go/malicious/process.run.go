//: by name
package main

import (
	"os/exec"
)

func main() {
	exec.Command("id").Run() //!
}
//: with output
package main

import (
	"fmt"
	"os/exec"
)

func main() {
	out, err := exec.Command("sh", "-c", "id").Output() //!
	fmt.Println(out, err)
}
//: context
package main

import (
	"context"
	"os/exec"
)

func main() {
	exec.CommandContext(context.Background(), "id").Run() //!
}
//: alias
package main

import (
	run "os/exec"
)

func main() {
	run.Command("id").Run() //!
}
//: dot import
package main

import (
	. "os/exec"
)

func main() {
	Command("id").Run() //!
}
//: misleading alias
package main

import (
	fmt "os/exec"
)

func main() {
	fmt.Command("id").Run() //!
}
//: alias like another package
package main

import (
	strings "os/exec"
)

func main() {
	strings.Command("id").Start() //!
}
//: variable
package main

import (
	"os/exec"
)

func main() {
	f := exec.Command
	f("id").Run() //!
}
//: typed variable
package main

import (
	"os/exec"
)

func main() {
	var f func(string, ...string) *exec.Cmd = exec.Command
	f("id").Run() //!
}
//: literal
package main

import (
	"os/exec"
)

func main() {
	c := &exec.Cmd{Path: "/bin/id"}
	c.Run() //!
}
//: literal in one line
package main

import (
	"os/exec"
)

func main() {
	(&exec.Cmd{Path: "/bin/id"}).Start() //!
}
//: zero value
package main

import (
	"os/exec"
)

func main() {
	var c exec.Cmd
	c.Path = "/bin/id"
	c.Run() //!
}
//: new
package main

import (
	"os/exec"
)

func main() {
	c := new(exec.Cmd)
	c.Path = "/bin/id"
	c.Run() //!
}
//: start process
package main

import (
	"os"
)

func main() {
	os.StartProcess("/bin/id", nil, nil) //!
}
//: syscall
package main

import (
	"syscall"
)

func main() {
	syscall.Exec("/bin/id", nil, nil) //!
}
//: forked
package main

import (
	"syscall"
)

func main() {
	syscall.ForkExec("/bin/id", nil, nil) //!
}
//: unix package
package main

import (
	"golang.org/x/sys/unix"
)

func main() {
	unix.Exec("/bin/id", nil, nil) //!
}
//: reflect
package main

import (
	"os/exec"
	"reflect"
)

func main() {
	reflect.ValueOf(exec.Command).Call([]reflect.Value{reflect.ValueOf("id")}) //!
}
//: reflect on a method
package main

import (
	"os/exec"
	"reflect"
)

func main() {
	c := &exec.Cmd{Path: "/bin/id"}
	reflect.ValueOf(c).MethodByName("Run").Call(nil) //!
}
//: table
package main

import (
	"os/exec"
)

func main() {
	table := []func(string, ...string) *exec.Cmd{exec.Command}
	table[0]("id").Run() //!
}
//: map
package main

import (
	"os/exec"
)

func main() {
	m := map[string]func(string, ...string) *exec.Cmd{"a": exec.Command}
	m["a"]("id").Run() //!
}
//: closure
package main

import (
	"os/exec"
)

func main() {
	run := func(s string) error {
		return exec.Command(s).Run() //!
	}
	run("id")
}
//: goroutine
package main

import (
	"os/exec"
)

func main() {
	go exec.Command("id").Run() //!
}
//: deferred
package main

import (
	"os/exec"
)

func main() {
	defer exec.Command("id").Run() //!
}
//: in a condition
package main

import (
	"os/exec"
)

func main() {
	if err := exec.Command("id").Run(); err != nil { //!
		panic(err)
	}
}
//: range over functions
package main

import (
	"os/exec"
)

func main() {
	for _, f := range []func(string, ...string) *exec.Cmd{exec.Command} {
		f("id").Run() //!
	}
}
//: parenthesised
package main

import (
	"os/exec"
)

func main() {
	(exec.Command)("id").Run() //!
}
//: handed to a function
package main

import "os/exec"

func call(f func(string, ...string) *exec.Cmd) error { return f("id").Run() } //!

func main() { call(exec.Command) }
//: field
package main

import "os/exec"

type tool struct{ run func(string, ...string) *exec.Cmd }

func main() {
	t := tool{run: exec.Command}
	t.run("id").Run() //!
}
//: field given later
package main

import "os/exec"

type tool struct{ run func(string, ...string) *exec.Cmd }

func main() {
	var t tool
	t.run = exec.Command
	t.run("id").Run() //!
}
//: given back
package main

import "os/exec"

func get() func(string, ...string) *exec.Cmd { return exec.Command }

func main() {
	get()("id").Run() //!
}
//: parameter
package main

import "os/exec"

func start(c *exec.Cmd) error { return c.Start() } //!
//: package variable
package main

import "os/exec"

var run = exec.Command

func main() {
	run("id").Run() //!
}
//: method
package main

import "os/exec"

type T struct{}

func (T) Go(s string) { exec.Command(s).Run() } //!
//: cgo
package main

// #include <stdlib.h>
import "C"

func main() {
	C.system(C.CString("id")) //!
}
//: generate @3
package main

//go:generate sh -c id
func main() {}
