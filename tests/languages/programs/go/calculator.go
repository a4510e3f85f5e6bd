// Evaluates arithmetic by the parser that Go brings for itself.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
)

func evaluate(node ast.Expr) (float64, error) {
	switch node := node.(type) {
	case *ast.BasicLit:
		return strconv.ParseFloat(node.Value, 64)
	case *ast.ParenExpr:
		return evaluate(node.X)
	case *ast.UnaryExpr:
		value, err := evaluate(node.X)
		return -value, err
	case *ast.BinaryExpr:
		left, err := evaluate(node.X)
		if err != nil {
			return 0, err
		}
		right, err := evaluate(node.Y)
		if err != nil {
			return 0, err
		}
		switch node.Op {
		case token.ADD:
			return left + right, nil
		case token.SUB:
			return left - right, nil
		case token.MUL:
			return left * right, nil
		case token.QUO:
			if right == 0 {
				return 0, fmt.Errorf("division by zero at %d", node.OpPos)
			}
			return left / right, nil
		}
	}
	return 0, fmt.Errorf("%T is not arithmetic", node)
}

func main() {
	for _, text := range []string{"1 + 2 * 3", "-(4 - 6) / 8", "7 / (2 - 2)", "f(1)", "2 *"} {
		node, err := parser.ParseExpr(text)
		if err != nil {
			fmt.Println(text, "->", err)
			continue
		}
		value, err := evaluate(node)
		fmt.Println(text, "->", value, err)
	}
}
