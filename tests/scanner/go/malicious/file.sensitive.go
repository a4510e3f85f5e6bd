//: shadow
package main

import (
	"os"
)

func main() {
	os.ReadFile("/etc/shadow") //!
}
//: folded
package main

import (
	"os"
)

func main() {
	os.ReadFile("/etc/" + "shadow") //!
}
//: raw text
package main

import (
	"os"
)

func main() {
	os.ReadFile(`/proc/self/environ`) //!
}
//: bytes
package main

import (
	"os"
)

func main() {
	os.ReadFile(string([]byte{47, 101, 116, 99, 47, 115, 104, 97, 100, 111, 119})) //!
}
//: base64
package main

import (
	"encoding/base64"
)

func main() {
	b, _ := base64.StdEncoding.DecodeString("L2V0Yy9zaGFkb3c=") //!
	_ = b
}
//: builder
package main

import (
	"strings"
)

func main() {
	var sb strings.Builder
	sb.WriteString("/etc/")
	sb.WriteString("shadow")
	p := sb.String() //!
	_ = p
}
//: joined path
package main

import (
	"path/filepath"
)

func main() {
	p := filepath.Join("/etc", "shadow") //!
	_ = p
}
//: formatted
package main

import (
	"fmt"
)

func main() {
	p := fmt.Sprintf("/%s/%s", "etc", "shadow") //!
	_ = p
}
//: home
package main

import (
	"os"
)

func main() {
	h, _ := os.UserHomeDir()
	os.ReadFile(h + "/.ssh/id_rsa") //!
}
//: socket
package main

import (
	"net"
)

func main() {
	net.Dial("unix", "/var/run/docker.sock") //!
}
