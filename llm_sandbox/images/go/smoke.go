// What a Go session needs: the standard library, its network and images among it.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/user"
	"sort"
	"sync"
)

func check(holds bool, complaint string) {
	if !holds {
		fmt.Fprintln(os.Stderr, complaint)
		os.Exit(1)
	}
}

func total[T int | float64](numbers []T) (sum T) {
	for _, number := range numbers {
		sum += number
	}
	return sum
}

func main() {
	var value struct{ Numbers []int }
	check(json.Unmarshal([]byte(`{"numbers": [41, 1]}`), &value) == nil, "json")
	sort.Ints(value.Numbers)
	check(total(value.Numbers) == 42, "generics")

	var group sync.WaitGroup
	results := make([]int, 4)
	for index := range results {
		group.Add(1)
		go func(index int) {
			defer group.Done()
			results[index] = index * index
		}(index)
	}
	group.Wait()
	check(total(results) == 14, "goroutines")

	server := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(writer, "hello")
	}))
	defer server.Close()
	answer, err := http.Get(server.URL)
	check(err == nil, fmt.Sprint(err))
	body, _ := io.ReadAll(answer.Body)
	check(string(body) == "hello", "http")

	who, err := user.Current()
	check(err == nil && who.Username == "sandbox", fmt.Sprint("user: ", who, err))
	var written bytes.Buffer
	check(png.Encode(&written, image.NewRGBA(image.Rect(0, 0, 64, 64))) == nil, "png")
}
