//: read a file
package main

import (
	"fmt"
	"os"
)

func main() {
	b, err := os.ReadFile("data.csv")
	fmt.Println(len(b), err)
}
//: write a result
package main

import (
	"os"
)

func main() {
	os.MkdirAll("out", 0o755)
	os.WriteFile("out/r.txt", []byte("ok"), 0o644)
}
//: temporary file
package main

import (
	"os"
)

func main() {
	os.WriteFile("/tmp/x.txt", nil, 0o600)
	f, _ := os.CreateTemp("", "x")
	f.Close()
}
//: lines
package main

import (
	"bufio"
	"fmt"
	"os"
)

func main() {
	f, _ := os.Open("a.txt")
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		fmt.Println(len(s.Text()))
	}
}
//: JSON
package main

import (
	"encoding/json"
	"fmt"
)

func main() {
	var v struct{ Exec string `json:"exec"` }
	json.Unmarshal([]byte(`{"exec":"x"}`), &v)
	out, _ := json.Marshal(v)
	fmt.Println(string(out))
}
//: gob
package main

import (
	"bytes"
	"encoding/gob"
	"fmt"
)

func main() {
	var b bytes.Buffer
	gob.NewEncoder(&b).Encode([]int{1})
	var v []int
	gob.NewDecoder(&b).Decode(&v)
	fmt.Println(v)
}
//: CSV
package main

import (
	"encoding/csv"
	"fmt"
	"strings"
)

func main() {
	rows, _ := csv.NewReader(strings.NewReader("a,b\n1,2")).ReadAll()
	fmt.Println(rows[1][0])
}
//: picture
package main

import (
	"image"
	"image/color"
	"image/png"
	"os"
)

func main() {
	m := image.NewRGBA(image.Rect(0, 0, 10, 10))
	m.Set(1, 1, color.Black)
	f, _ := os.Create("plot.png")
	png.Encode(f, m)
}
//: statistics
package main

import (
	"fmt"
	"math"
)

func main() {
	xs := []float64{2, 4, 4, 5}
	s := 0.0
	for _, x := range xs {
		s += x
	}
	fmt.Println(math.Sqrt(s / float64(len(xs))))
}
//: histogram
package main

import (
	"fmt"
	"strings"
)

func main() {
	for _, n := range []int{3, 7} {
		fmt.Println(strings.Repeat("#", n))
	}
}
//: hash
package main

import (
	"crypto/sha256"
	"fmt"
)

func main() {
	fmt.Printf("%x\n", sha256.Sum256([]byte("x")))
}
//: compression
package main

import (
	"bytes"
	"compress/gzip"
)

func main() {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte("x"))
	w.Close()
}
//: input
package main

import (
	"fmt"
)

func main() {
	var n, s int
	for {
		if _, err := fmt.Scan(&n); err != nil {
			break
		}
		s += n
	}
	fmt.Println(s)
}
//: paths
package main

import (
	"fmt"
	"path/filepath"
)

func main() {
	fs, _ := filepath.Glob("*.csv")
	fmt.Println(fs, filepath.Join("a", "b"), filepath.Ext("a.txt"))
}
