//: address
package main

func main() {
	u := "http://169.254.169.254/latest" //!
	_ = u
}
//: folded
package main

import (
	"strings"
)

func main() {
	u := strings.Join([]string{"169", "254", "169", "254"}, ".") //!
	_ = u
}
