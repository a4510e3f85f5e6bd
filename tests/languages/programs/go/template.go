// A report from a template, in columns.
package main

import (
	"os"
	"strings"
	"text/tabwriter"
	"text/template"
)

type line struct {
	Item   string
	Amount int
	Price  float64
}

func (l line) Total() float64 { return float64(l.Amount) * l.Price }

const report = `{{range $number, $line := .}}{{inc $number}}	{{upper .Item}}	{{printf "%.2f" .Total}}{{if gt .Amount 10}}	bulk{{end}}
{{else}}nothing
{{end}}`

func main() {
	functions := template.FuncMap{"upper": strings.ToUpper, "inc": func(n int) int { return n + 1 }}
	page := template.Must(template.New("report").Funcs(functions).Parse(report))
	columns := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	page.Execute(columns, []line{{"pen", 12, 1.5}, {"notebook", 3, 4.25}})
	columns.Flush()
	page.Execute(os.Stdout, []line{})
}
