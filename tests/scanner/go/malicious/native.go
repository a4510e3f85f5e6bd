//: pointer
package main

import (
	"unsafe"
)

func main() {
	x := 1
	p := unsafe.Pointer(&x) //!
	_ = p
}
//: pointer by alias
package main

import (
	u "unsafe"
)

func main() {
	x := 1
	_ = (*float64)(u.Pointer(&x)) //!
}
//: pointer by dot
package main

import (
	. "unsafe"
)

func main() {
	x := 1
	_ = Pointer(&x) //!
}
//: system call
package main

import (
	"syscall"
)

func main() {
	syscall.Syscall(39, 0, 0, 0) //!
}
//: raw system call
package main

import (
	"syscall"
)

func main() {
	syscall.RawSyscall6(59, 0, 0, 0, 0, 0, 0) //!
}
//: plugin
package main

import (
	"plugin"
)

func main() {
	p, _ := plugin.Open("x.so") //!
	_ = p
}
//: executable memory
package main

import (
	"syscall"
)

func main() {
	syscall.Mmap(-1, 0, 4096, syscall.PROT_EXEC|syscall.PROT_WRITE, syscall.MAP_ANON) //!
}
//: protection
package main

import (
	"syscall"
)

func main() {
	syscall.Mprotect(nil, 7) //!
}
//: cgo
package main

import "C" //!

func main() {}
//: linkname @5
package main

import _ "unsafe"

//go:linkname now time.now
func now()
