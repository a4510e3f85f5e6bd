// Shortest ways through a graph, with a heap.
package main

import (
	"container/heap"
	"fmt"
	"math"
)

type entry struct{ node, distance int }
type queue []entry

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].distance < q[j].distance }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(item any)     { *q = append(*q, item.(entry)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func main() {
	edges := [][3]int{{0, 1, 7}, {0, 2, 9}, {0, 5, 14}, {1, 2, 10}, {1, 3, 15}, {2, 3, 11}, {2, 5, 2}, {3, 4, 6}, {4, 5, 9}}
	graph := map[int][]entry{}
	for _, edge := range edges {
		graph[edge[0]] = append(graph[edge[0]], entry{edge[1], edge[2]})
		graph[edge[1]] = append(graph[edge[1]], entry{edge[0], edge[2]})
	}
	distances := []int{0, math.MaxInt, math.MaxInt, math.MaxInt, math.MaxInt, math.MaxInt}
	open := &queue{{0, 0}}
	for open.Len() > 0 {
		at := heap.Pop(open).(entry)
		if at.distance > distances[at.node] {
			continue
		}
		for _, next := range graph[at.node] {
			if through := at.distance + next.distance; through < distances[next.node] {
				distances[next.node] = through
				heap.Push(open, entry{next.node, through})
			}
		}
	}
	fmt.Println(distances)
}
