//: dial
package main

import (
	"net"
)

func main() {
	net.Dial("tcp", "10.0.0.1:4444") //!
}
//: listen
package main

import (
	"net"
)

func main() {
	l, _ := net.Listen("tcp", ":80") //!
	_ = l
}
//: alias
package main

import (
	n "net"
)

func main() {
	n.DialTimeout("tcp", "h:1", 0) //!
}
//: dialer
package main

import (
	"net"
)

func main() {
	var d net.Dialer
	d.Dial("tcp", "h:1") //!
}
//: tls
package main

import (
	"crypto/tls"
)

func main() {
	tls.Dial("tcp", "h:443", nil) //!
}
//: server
package main

import (
	"net/http"
)

func main() {
	http.ListenAndServe(":80", nil) //!
}
//: names
package main

import (
	"net"
)

func main() {
	net.LookupHost("example.org") //!
}
//: syscall
package main

import (
	"syscall"
)

func main() {
	syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0) //!
}
