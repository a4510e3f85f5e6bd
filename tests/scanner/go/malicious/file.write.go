//: write
package main

import (
	"os"
)

func main() {
	os.WriteFile("/usr/bin/x", nil, 0o755) //!
}
//: create
package main

import (
	"os"
)

func main() {
	os.Create("/opt/x") //!
}
//: open
package main

import (
	"os"
)

func main() {
	os.OpenFile("/usr/lib/x", os.O_WRONLY|os.O_CREATE, 0o644) //!
}
//: constant
package main

import (
	"os"
)

func main() {
	const p = "/usr/" + "bin/x"
	os.WriteFile(p, nil, 0) //!
}
