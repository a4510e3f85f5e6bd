// Interfaces, embedding, and a switch by type.
package main

import (
	"fmt"
	"math"
)

type Shape interface {
	Area() float64
}

type Named struct{ Name string }

func (n Named) String() string { return "<" + n.Name + ">" }

type Circle struct {
	Named
	Radius float64
}

type Box struct {
	Named
	Width, Height float64
}

func (c Circle) Area() float64 { return math.Pi * c.Radius * c.Radius }
func (b *Box) Area() float64   { return b.Width * b.Height }

func describe(shape Shape) string {
	switch shape := shape.(type) {
	case Circle:
		return fmt.Sprintf("round, %g across", 2*shape.Radius)
	case *Box:
		return fmt.Sprintf("%g by %g", shape.Width, shape.Height)
	default:
		return "unknown"
	}
}

func main() {
	shapes := []Shape{Circle{Named{"sun"}, 1.5}, &Box{Named{"door"}, 2, 3.25}}
	for _, shape := range shapes {
		fmt.Printf("%v %.3f %s\n", shape.(fmt.Stringer), shape.Area(), describe(shape))
	}
}
