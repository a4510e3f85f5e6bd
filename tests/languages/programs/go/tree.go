// A binary tree, walked by goroutines that are compared.
package main

import "fmt"

type Tree struct {
	Left, Right *Tree
	Value       int
}

func (t *Tree) Insert(value int) *Tree {
	if t == nil {
		return &Tree{Value: value}
	}
	if value < t.Value {
		t.Left = t.Left.Insert(value)
	} else {
		t.Right = t.Right.Insert(value)
	}
	return t
}

func (t *Tree) walk(out chan<- int) {
	if t != nil {
		t.Left.walk(out)
		out <- t.Value
		t.Right.walk(out)
	}
}

func Walk(t *Tree) <-chan int {
	out := make(chan int)
	go func() {
		defer close(out)
		t.walk(out)
	}()
	return out
}

func Same(first, second *Tree) bool {
	left, right := Walk(first), Walk(second)
	for {
		a, more := <-left
		b, also := <-right
		if more != also || a != b {
			return false
		}
		if !more {
			return true
		}
	}
}

func main() {
	var first, second, third *Tree
	for _, value := range []int{5, 2, 8, 1, 9, 3} {
		first = first.Insert(value)
	}
	for _, value := range []int{1, 2, 3, 5, 8, 9} {
		second = second.Insert(value)
		third = third.Insert(value * 2)
	}
	for value := range Walk(first) {
		fmt.Print(value, " ")
	}
	fmt.Println(Same(first, second), Same(first, third))
}
