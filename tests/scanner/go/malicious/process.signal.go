//: syscall
package main

import (
	"syscall"
)

func main() {
	syscall.Kill(1, 9) //!
}
//: found process
package main

import (
	"os"
)

func main() {
	p, _ := os.FindProcess(1)
	p.Kill() //!
}
//: typed
package main

import (
	"os"
)

func main() {
	var p *os.Process
	p.Signal(os.Interrupt) //!
}
