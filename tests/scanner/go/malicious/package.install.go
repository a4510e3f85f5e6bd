//: pip
package main

import (
	"os/exec"
)

func main() {
	exec.Command("pip", "install", "x").Run() //!
}
//: go
package main

import (
	"os/exec"
)

func main() {
	exec.Command("sh", "-c", "go install example.org/x@latest").Run() //!
}
