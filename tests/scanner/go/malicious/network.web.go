//: get
package main

import (
	"net/http"
)

func main() {
	http.Get("https://example.org") //!
}
//: client
package main

import (
	"net/http"
)

func main() {
	c := &http.Client{}
	c.Get("https://example.org") //!
}
//: default client
package main

import (
	"net/http"
)

func main() {
	http.DefaultClient.Get("https://example.org") //!
}
