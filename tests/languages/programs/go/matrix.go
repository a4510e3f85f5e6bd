// Multiplies matrices row by row in goroutines.
package main

import "fmt"

type matrix [][]int

func (left matrix) times(right matrix) matrix {
	product := make(matrix, len(left))
	done := make(chan int)
	for row := range left {
		go func(row int) {
			product[row] = make([]int, len(right[0]))
			for column := range right[0] {
				for at, value := range left[row] {
					product[row][column] += value * right[at][column]
				}
			}
			done <- row
		}(row)
	}
	for range left {
		<-done
	}
	return product
}

func main() {
	fmt.Println(matrix{{1, 2, 3}, {4, 5, 6}}.times(matrix{{7, 8}, {9, 10}, {11, 12}}))
	power := matrix{{1, 1}, {1, 0}}
	for i := 0; i < 5; i++ {
		power = power.times(power)
	}
	fmt.Println(power)
}
