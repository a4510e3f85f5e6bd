// Shares work among goroutines and puts the results back in order.
package main

import (
	"fmt"
	"sync"
)

type job struct{ index, number int }

func steps(number int) (count int) {
	for ; number != 1; count++ {
		if number%2 == 0 {
			number /= 2
		} else {
			number = 3*number + 1
		}
	}
	return count
}

func main() {
	jobs := make(chan job)
	results := make([]int, 20)
	var group sync.WaitGroup
	for worker := 0; worker < 4; worker++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for job := range jobs {
				results[job.index] = steps(job.number)
			}
		}()
	}
	for index := range results {
		jobs <- job{index, 97 * (index + 1)}
	}
	close(jobs)
	group.Wait()
	fmt.Println(results)
}
