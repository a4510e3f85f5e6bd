// Conway's game of life: a glider crosses a board whose edges meet.
package main

import "fmt"

const size = 6

type board [size][size]bool

func (b board) neighbours(row, column int) (count int) {
	for down := -1; down <= 1; down++ {
		for right := -1; right <= 1; right++ {
			if (down != 0 || right != 0) && b[(row+down+size)%size][(column+right+size)%size] {
				count++
			}
		}
	}
	return count
}

func (b board) step() (next board) {
	for row := range b {
		for column, alive := range b[row] {
			count := b.neighbours(row, column)
			next[row][column] = count == 3 || alive && count == 2
		}
	}
	return next
}

func (b board) String() (text string) {
	for _, row := range b {
		for _, alive := range row {
			text += map[bool]string{true: "#", false: "."}[alive]
		}
		text += "\n"
	}
	return text
}

func main() {
	var glider board
	for _, cell := range [][2]int{{0, 1}, {1, 2}, {2, 0}, {2, 1}, {2, 2}} {
		glider[cell[0]][cell[1]] = true
	}
	alive := glider
	for generation := 0; generation < 4*size; generation++ {
		alive = alive.step()
		if generation == 3 {
			fmt.Print(alive)
		}
	}
	fmt.Println(alive == glider)
}
