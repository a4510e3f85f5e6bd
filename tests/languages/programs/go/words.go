// Counts words, most frequent first.
package main

import (
	"fmt"
	"sort"
	"strings"
	"unicode"
)

func main() {
	text := "Der Fluß, the river, la rivière: THE River flows. La rivière, der Fluß!"
	counts := map[string]int{}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		counts[strings.ToLower(word)]++
	}
	words := make([]string, 0, len(counts))
	for word := range counts {
		words = append(words, word)
	}
	sort.Slice(words, func(i, j int) bool {
		if counts[words[i]] != counts[words[j]] {
			return counts[words[i]] > counts[words[j]]
		}
		return words[i] < words[j]
	})
	for _, word := range words {
		fmt.Printf("%-8s %d\n", word, counts[word])
	}
}
