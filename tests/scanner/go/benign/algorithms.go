//: binary search
package main

import (
	"fmt"
	"sort"
)

func main() {
	xs := []int{1, 3, 5}
	fmt.Println(sort.SearchInts(xs, 3))
}
//: sieve
package main

import (
	"fmt"
)

func main() {
	c := make([]bool, 101)
	for i := 2; i <= 100; i++ {
		if c[i] {
			continue
		}
		fmt.Print(i, " ")
		for j := i * i; j <= 100; j += i {
			c[j] = true
		}
	}
}
//: quicksort
package main

import (
	"fmt"
)

func qs(a []int) []int {
	if len(a) < 2 {
		return a
	}
	var l, r []int
	for _, x := range a[1:] {
		if x < a[0] {
			l = append(l, x)
		} else {
			r = append(r, x)
		}
	}
	return append(append(qs(l), a[0]), qs(r)...)
}

func main() {
	fmt.Println(qs([]int{3, 1, 2}))
}
//: memoised Fibonacci
package main

import (
	"fmt"
	"math/big"
)

var memo = map[int]int{}

func fib(n int) int {
	if n < 2 {
		return n
	}
	if v, ok := memo[n]; ok {
		return v
	}
	memo[n] = fib(n-1) + fib(n-2)
	return memo[n]
}

func main() {
	fmt.Println(fib(90), big.NewInt(3))
}
//: breadth first
package main

import (
	"fmt"
)

func main() {
	g := map[string][]string{"a": {"b", "c"}, "b": {"d"}}
	seen, q := map[string]bool{"a": true}, []string{"a"}
	for len(q) > 0 {
		u := q[0]
		q = q[1:]
		for _, v := range g[u] {
			if !seen[v] {
				seen[v] = true
				q = append(q, v)
			}
		}
	}
	fmt.Println(len(seen))
}
//: greatest common divisor
package main

import (
	"fmt"
)

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func main() {
	fmt.Println(gcd(12, 18))
}
//: matrix product
package main

import (
	"fmt"
)

func main() {
	a, b := [2][2]int{{1, 2}, {3, 4}}, [2][2]int{{0, 1}, {1, 0}}
	var r [2][2]int
	for i := range a {
		for j := range b {
			for k := range a {
				r[i][j] += a[i][k] * b[k][j]
			}
		}
	}
	fmt.Println(r)
}
//: longest common subsequence
package main

import (
	"fmt"
)

func lcs(a, b string) int {
	t := make([][]int, len(a)+1)
	for i := range t {
		t[i] = make([]int, len(b)+1)
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			if a[i-1] == b[j-1] {
				t[i][j] = t[i-1][j-1] + 1
			} else {
				t[i][j] = max(t[i-1][j], t[i][j-1])
			}
		}
	}
	return t[len(a)][len(b)]
}

func main() {
	fmt.Println(lcs("process", "progress"))
}
//: permutations
package main

import (
	"fmt"
)

func permute(a []int, k int) {
	if k == len(a) {
		fmt.Println(a)
	}
	for i := k; i < len(a); i++ {
		a[i], a[k] = a[k], a[i]
		permute(a, k+1)
		a[i], a[k] = a[k], a[i]
	}
}

func main() {
	permute([]int{1, 2, 3}, 0)
}
//: heap
package main

import (
	"container/heap"
	"fmt"
)

type ints []int

func (h ints) Len() int           { return len(h) }
func (h ints) Less(i, j int) bool { return h[i] < h[j] }
func (h ints) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *ints) Push(x any)        { *h = append(*h, x.(int)) }
func (h *ints) Pop() any {
	o := *h
	x := o[len(o)-1]
	*h = o[:len(o)-1]
	return x
}

func main() {
	h := &ints{3, 1, 2}
	heap.Init(h)
	fmt.Println(heap.Pop(h))
}
//: Newton
package main

import (
	"fmt"
	"math"
)

func main() {
	x := 1.0
	for i := 0; i < 20; i++ {
		x -= (x*x - 2) / (2 * x)
	}
	fmt.Println(math.Abs(x-math.Sqrt2) < 1e-9)
}
//: towers
package main

import (
	"fmt"
)

func hanoi(n int) int {
	if n == 0 {
		return 0
	}
	return 2*hanoi(n-1) + 1
}

func main() {
	fmt.Println(hanoi(5))
}
