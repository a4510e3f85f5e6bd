// A stack and functions for any type.
package main

import (
	"errors"
	"fmt"
	"strings"
)

type Number interface {
	~int | ~int64 | ~float64
}

type Stack[T any] struct{ items []T }

var errEmpty = errors.New("the stack is empty")

func (s *Stack[T]) Push(items ...T) { s.items = append(s.items, items...) }

func (s *Stack[T]) Pop() (item T, err error) {
	if len(s.items) == 0 {
		return item, errEmpty
	}
	item = s.items[len(s.items)-1]
	s.items = s.items[:len(s.items)-1]
	return item, nil
}

func Map[From, To any](values []From, function func(From) To) []To {
	result := make([]To, len(values))
	for index, value := range values {
		result[index] = function(value)
	}
	return result
}

func Sum[N Number](values ...N) (total N) {
	for _, value := range values {
		total += value
	}
	return total
}

type Metres float64

func main() {
	var stack Stack[string]
	stack.Push("a", "b")
	for i := 0; i < 3; i++ {
		item, err := stack.Pop()
		fmt.Printf("%q %v\n", item, err)
	}
	fmt.Println(Map([]int{1, 2, 3}, func(n int) string { return strings.Repeat("*", n) }))
	fmt.Println(Sum(1, 2, 3), Sum(Metres(1.5), 2.25))
}
