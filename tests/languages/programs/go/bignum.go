// Numbers with more digits than a machine word, and exact fractions.
package main

import (
	"fmt"
	"math/big"
)

func main() {
	product := big.NewInt(1)
	for factor := int64(2); factor <= 50; factor++ {
		product.Mul(product, big.NewInt(factor))
	}
	fmt.Println(product)
	sum := new(big.Rat)
	for n := int64(1); n <= 20; n++ {
		sum.Add(sum, big.NewRat(1, n))
	}
	fmt.Println(sum, sum.FloatString(12))
	mersenne := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 127), big.NewInt(1))
	fmt.Println(mersenne.ProbablyPrime(10), new(big.Int).Exp(big.NewInt(3), big.NewInt(1000), big.NewInt(1_000_007)))
}
