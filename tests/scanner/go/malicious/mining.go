//: pool
package main

func main() {
	p := "stratum+tcp://pool.example.org:3333" //!
	_ = p
}
