// Reads JSON into structs and maps, and writes it with other names.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
)

type Point struct {
	X, Y float64
}

type Shape struct {
	Name   string            `json:"name"`
	Points []Point           `json:"points"`
	Tags   map[string]string `json:"tags,omitempty"`
	secret int
}

func main() {
	const text = `[{"name": "line", "points": [{"X": 0, "Y": 1.5}, {"X": 2, "Y": 3}], "tags": {"colour": "red", "at": "top"}}, {"name": "dot", "points": []}]`
	var shapes []Shape
	if err := json.Unmarshal([]byte(text), &shapes); err != nil {
		panic(err)
	}
	for _, shape := range shapes {
		keys := []string{}
		for key := range shape.Tags {
			keys = append(keys, key)
		}
		sort.Strings(keys)
		fmt.Println(shape.Name, len(shape.Points), keys)
	}
	shapes[1].Points = append(shapes[1].Points, Point{1, 1})
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	encoder.Encode(shapes[1])
	var any map[string]any
	err := json.Unmarshal([]byte(`{"open": [1, 2}`), &any)
	fmt.Println(err)
}
