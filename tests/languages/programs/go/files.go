// Writes files, walks a folder, and reads a file line by line.
package main

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	folder, err := os.MkdirTemp("", "ledger")
	check(err)
	defer os.RemoveAll(folder)
	check(os.MkdirAll(filepath.Join(folder, "old"), 0o755))
	check(os.WriteFile(filepath.Join(folder, "sales.txt"), []byte("3 pens\n2 books\n"), 0o644))
	check(os.WriteFile(filepath.Join(folder, "old", "notes.txt"), nil, 0o600))

	check(filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		check(err)
		name, _ := filepath.Rel(folder, path)
		info, _ := entry.Info()
		if entry.IsDir() {
			fmt.Println(name + "/")
		} else {
			fmt.Println(name, info.Size(), info.Mode())
		}
		return nil
	}))

	file, err := os.Open(filepath.Join(folder, "sales.txt"))
	check(err)
	defer file.Close()
	total := 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var amount int
		var item string
		fmt.Sscanf(lines.Text(), "%d %s", &amount, &item)
		total += amount
		fmt.Printf("%q ", item)
	}
	fmt.Println(total)
}
