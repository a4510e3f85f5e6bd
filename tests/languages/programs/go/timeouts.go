// Contexts, timers and select.
package main

import (
	"context"
	"fmt"
	"time"
)

func ticks(ctx context.Context, every time.Duration) <-chan int {
	out := make(chan int)
	go func() {
		defer close(out)
		for count := 1; ; count++ {
			select {
			case <-time.After(every):
				out <- count
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	for count := range ticks(ctx, time.Millisecond) {
		fmt.Println("tick", count)
		if count == 3 {
			cancel()
			break
		}
	}
	short, stop := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer stop()
	select {
	case <-short.Done():
		fmt.Println(short.Err())
	case <-time.After(time.Minute):
		fmt.Println("late")
	}
	fmt.Println(ctx.Err())
}
