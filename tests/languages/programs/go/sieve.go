// Primes from a chain of goroutines, each of which holds back the multiples of one prime.
package main

import "fmt"

func generate(out chan<- int) {
	for number := 2; ; number++ {
		out <- number
	}
}

func filter(in <-chan int, out chan<- int, prime int) {
	for {
		if number := <-in; number%prime != 0 {
			out <- number
		}
	}
}

func main() {
	in := make(chan int)
	go generate(in)
	for i := 0; i < 15; i++ {
		prime := <-in
		fmt.Print(prime, " ")
		out := make(chan int)
		go filter(in, out, prime)
		in = out
	}
	fmt.Println()
}
