//: goroutines
package main

import (
	"fmt"
	"sync"
)

func main() {
	var wg sync.WaitGroup
	for i := 0; i < 3; i++ {
		wg.Add(1)
		go func(n int) { defer wg.Done(); fmt.Println(n) }(i)
	}
	wg.Wait()
}
//: channels
package main

import (
	"fmt"
)

func main() {
	c := make(chan int)
	go func() { defer close(c); c <- 1 }()
	for v := range c {
		fmt.Println(v)
	}
}
//: select
package main

import (
	"fmt"
	"time"
)

func main() {
	select {
	case <-time.After(time.Millisecond):
		fmt.Println("late")
	}
}
//: context
package main

import (
	"context"
	"fmt"
	"time"
)

func main() {
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	fmt.Println(ctx.Err())
}
//: flags
package main

import (
	"flag"
	"fmt"
)

func main() {
	n := flag.Int("n", 3, "how many")
	flag.Parse()
	fmt.Println(*n)
}
//: recover
package main

import (
	"fmt"
)

func main() {
	defer func() { fmt.Println(recover()) }()
	panic("x")
}
//: sorting
package main

import (
	"fmt"
	"sort"
)

func main() {
	xs := []string{"b", "a"}
	sort.Slice(xs, func(i, j int) bool { return xs[i] < xs[j] })
	fmt.Println(xs)
}
//: switch on types
package main

import (
	"fmt"
)

func main() {
	var v any = 3
	switch x := v.(type) {
	case int:
		fmt.Println(x + 1)
	default:
		fmt.Println("other")
	}
}
//: random
package main

import (
	"fmt"
	"math/rand"
)

func main() {
	r := rand.New(rand.NewSource(42))
	fmt.Println(r.Intn(10))
}
//: logging
package main

import (
	"log"
)

func main() {
	log.SetFlags(0)
	log.Printf("run %d", 1)
}
