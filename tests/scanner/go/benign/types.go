//: stack
package main

import (
	"fmt"
)

type stack struct{ xs []int }

func (s *stack) push(x int) { s.xs = append(s.xs, x) }
func (s *stack) pop() int {
	x := s.xs[len(s.xs)-1]
	s.xs = s.xs[:len(s.xs)-1]
	return x
}

func main() {
	var s stack
	s.push(1)
	fmt.Println(s.pop())
}
//: shapes
package main

import (
	"fmt"
	"math"
)

type shape interface{ area() float64 }
type circle struct{ r float64 }
type square struct{ s float64 }

func (c circle) area() float64 { return math.Pi * c.r * c.r }
func (s square) area() float64 { return s.s * s.s }

func main() {
	for _, s := range []shape{circle{1}, square{2}} {
		fmt.Println(s.area())
	}
}
//: generics
package main

import (
	"fmt"
)

func mapped[T, U any](xs []T, f func(T) U) []U {
	var out []U
	for _, x := range xs {
		out = append(out, f(x))
	}
	return out
}

func main() {
	fmt.Println(mapped([]int{1, 2}, func(x int) string { return fmt.Sprint(x) }))
}
//: embedding
package main

import (
	"fmt"
)

type animal struct{ name string }
type dog struct{ animal }

func main() {
	fmt.Println(dog{animal{"Rex"}}.name)
}
//: errors
package main

import (
	"errors"
	"fmt"
)

var errNone = errors.New("none")

func main() {
	err := fmt.Errorf("more: %w", errNone)
	fmt.Println(errors.Is(err, errNone))
}
//: closure
package main

import (
	"fmt"
)

func main() {
	n := 0
	next := func() int { n++; return n }
	next()
	fmt.Println(next())
}
//: stringer
package main

import (
	"fmt"
)

type color int

const (
	red color = iota
	green
)

func (c color) String() string { return [...]string{"red", "green"}[c] }

func main() {
	fmt.Println(red)
}
//: linked list
package main

import (
	"fmt"
)

type node struct {
	v    int
	next *node
}

func main() {
	l := &node{1, &node{2, nil}}
	for ; l != nil; l = l.next {
		fmt.Println(l.v)
	}
}
//: options
package main

import (
	"fmt"
)

type config struct{ n int }

func build(fs ...func(*config)) config {
	var c config
	for _, f := range fs {
		f(&c)
	}
	return c
}

func main() {
	fmt.Println(build(func(c *config) { c.n = 3 }))
}
//: tree
package main

import (
	"fmt"
)

type tree struct {
	v    int
	l, r *tree
}

func (t *tree) sum() int {
	if t == nil {
		return 0
	}
	return t.v + t.l.sum() + t.r.sum()
}

func main() {
	t := &tree{v: 2, l: &tree{v: 1}}
	fmt.Println(t.sum())
}
