// Errors that wrap errors, are told apart, and are recovered from.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
)

type rangeError struct{ value, most int }

func (e *rangeError) Error() string { return fmt.Sprintf("%d is more than %d", e.value, e.most) }

func parse(text string) (int, error) {
	number, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("parse %q: %w", text, err)
	}
	if number > 100 {
		return 0, fmt.Errorf("check: %w", &rangeError{number, 100})
	}
	return number, nil
}

func safely(function func()) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("recovered: %v", cause)
		}
	}()
	function()
	return nil
}

func main() {
	for _, text := range []string{"42", "x1", "500"} {
		number, err := parse(text)
		var tooMuch *rangeError
		switch {
		case errors.Is(err, strconv.ErrSyntax):
			fmt.Println("syntax:", err)
		case errors.As(err, &tooMuch):
			fmt.Println("range:", tooMuch.value, err)
		default:
			fmt.Println(number)
		}
	}
	_, err := os.ReadFile("no such file")
	fmt.Println(errors.Is(err, fs.ErrNotExist))
	fmt.Println(safely(func() { var none map[string]int; none["a"] = 1 }))
	fmt.Println(safely(func() {}))
}
