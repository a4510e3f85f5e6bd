// Adds up a table by groups, from CSV to CSV.
package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
)

const table = `region,product,sales
north,"tea, green",12
south,coffee,30
north,coffee,7
south,"tea, green",1
east,"say ""cocoa""",5
`

func main() {
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil {
		panic(err)
	}
	totals := map[string]int{}
	for _, row := range rows[1:] {
		sales, _ := strconv.Atoi(row[2])
		totals[row[0]] += sales
	}
	regions := make([]string, 0)
	for region := range totals {
		regions = append(regions, region)
	}
	sort.Slice(regions, func(i, j int) bool { return totals[regions[i]] > totals[regions[j]] })
	writer := csv.NewWriter(os.Stdout)
	for _, region := range regions {
		writer.Write([]string{region, strconv.Itoa(totals[region])})
	}
	writer.Write([]string{rows[5][1], "x,y"})
	writer.Flush()
	_, err = csv.NewReader(strings.NewReader("a,b\n1\n")).ReadAll()
	fmt.Println(err)
}
