// Functions that remember, that take functions, and that run at the end.
package main

import "fmt"

func counter(step int) func() int {
	count := 0
	return func() int {
		count += step
		return count
	}
}

func apply(values []int, functions ...func(int) int) []int {
	result := append([]int(nil), values...)
	for _, function := range functions {
		for index := range result {
			result[index] = function(result[index])
		}
	}
	return result
}

func remember(function func(int) int) func(int) int {
	known := map[int]int{}
	return func(n int) int {
		if value, ok := known[n]; ok {
			return value
		}
		known[n] = function(n)
		return known[n]
	}
}

func main() {
	defer fmt.Println("last")
	byTwo, byFive := counter(2), counter(5)
	byTwo()
	fmt.Println(byTwo(), byFive())
	fmt.Println(apply([]int{1, 2, 3}, func(x int) int { return x * x }, func(x int) int { return x + 1 }))
	var fibonacci func(int) int
	fibonacci = remember(func(n int) int {
		if n < 2 {
			return n
		}
		return fibonacci(n-1) + fibonacci(n-2)
	})
	fmt.Println(fibonacci(80))
	for i := 0; i < 3; i++ {
		defer func(n int) { fmt.Print(n, " ") }(i)
	}
}
