// A server and its clients in one program.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
)

func main() {
	routes := http.NewServeMux()
	routes.HandleFunc("/double", func(writer http.ResponseWriter, request *http.Request) {
		var numbers []int
		if err := json.NewDecoder(request.Body).Decode(&numbers); err != nil {
			http.Error(writer, "no numbers", http.StatusBadRequest)
			return
		}
		for index := range numbers {
			numbers[index] *= 2
		}
		writer.Header().Set("X-Count", fmt.Sprint(len(numbers)))
		json.NewEncoder(writer).Encode(numbers)
	})
	server := httptest.NewServer(routes)
	defer server.Close()
	for _, call := range [][2]string{{"/double", "[1, 2, 3]"}, {"/double", "x"}, {"/none", ""}} {
		answer, err := http.Post(server.URL+call[0], "application/json", strings.NewReader(call[1]))
		if err != nil {
			panic(err)
		}
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		fmt.Println(answer.StatusCode, answer.Header.Get("X-Count"), strings.TrimSpace(string(body)))
	}
}
