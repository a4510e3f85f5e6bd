// Counts from many goroutines, under a lock, with an atomic, and once.
package main

import (
	"fmt"
	"sync"
	"sync/atomic"
)

type counter struct {
	sync.Mutex
	counts map[string]int
}

func (c *counter) add(name string) {
	c.Lock()
	defer c.Unlock()
	c.counts[name]++
}

func main() {
	locked := counter{counts: map[string]int{}}
	var total int64
	var once sync.Once
	var group sync.WaitGroup
	for i := 0; i < 300; i++ {
		group.Add(1)
		go func(number int) {
			defer group.Done()
			once.Do(func() { fmt.Println("first") })
			locked.add([]string{"fizz", "buzz", "none"}[number%3])
			atomic.AddInt64(&total, int64(number))
		}(i)
	}
	group.Wait()
	fmt.Println(locked.counts, total)
}
