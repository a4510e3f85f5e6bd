import java.math.BigInteger;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

public class Matrix {
    static double[][] times(double[][] a, double[][] b) {
        return IntStream.range(0, a.length)
            .mapToObj(i -> IntStream.range(0, b[0].length)
                .mapToDouble(j -> IntStream.range(0, b.length).mapToDouble(k -> a[i][k] * b[k][j]).sum())
                .toArray())
            .toArray(double[][]::new);
    }

    /** Solves a system of equations by elimination with a pivot. */
    static double[] solve(double[][] a, double[] right) {
        int n = right.length;
        for (int column = 0; column < n; column++) {
            int pivot = column;
            for (int row = column + 1; row < n; row++) {
                if (Math.abs(a[row][column]) > Math.abs(a[pivot][column])) {
                    pivot = row;
                }
            }
            double[] line = a[pivot];
            a[pivot] = a[column];
            a[column] = line;
            double value = right[pivot];
            right[pivot] = right[column];
            right[column] = value;
            for (int row = column + 1; row < n; row++) {
                double factor = a[row][column] / a[column][column];
                right[row] -= factor * right[column];
                for (int k = column; k < n; k++) {
                    a[row][k] -= factor * a[column][k];
                }
            }
        }
        double[] found = new double[n];
        for (int row = n - 1; row >= 0; row--) {
            double rest = right[row];
            for (int k = row + 1; k < n; k++) {
                rest -= a[row][k] * found[k];
            }
            found[row] = rest / a[row][row];
        }
        return found;
    }

    static BigInteger fibonacci(int n) {
        BigInteger a = BigInteger.ZERO;
        BigInteger b = BigInteger.ONE;
        for (int bit = 31 - Integer.numberOfLeadingZeros(n); bit >= 0; bit--) {
            BigInteger twice = a.multiply(b.shiftLeft(1).subtract(a));
            BigInteger squares = a.multiply(a).add(b.multiply(b));
            a = twice;
            b = squares;
            if ((n >> bit & 1) == 1) {
                BigInteger sum = a.add(b);
                a = b;
                b = sum;
            }
        }
        return a;
    }

    public static void main(String[] args) {
        double[][] product = times(new double[][] {{1, 2}, {3, 4}}, new double[][] {{0, 1}, {1, 0}});
        System.out.println(Arrays.deepToString(product));
        double[] found = solve(new double[][] {{0, 2, 1}, {1, -2, -3}, {-1, 1, 2}}, new double[] {-8, 0, 3});
        System.out.println(Arrays.stream(found).mapToObj(x -> String.valueOf(Math.round(x)))
            .collect(Collectors.joining(" ")));
        System.out.println(fibonacci(200));
    }
}
