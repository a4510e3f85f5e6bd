import java.util.function.DoubleBinaryOperator;

/** A parser by descent for arithmetic with precedence, unary minus and parentheses. */
public class Calculator {
    private final String text;
    private int at;

    Calculator(String text) {
        this.text = text.replace(" ", "");
    }

    double sum() {
        double value = product();
        while (at < text.length() && "+-".indexOf(text.charAt(at)) >= 0) {
            DoubleBinaryOperator step = text.charAt(at++) == '+' ? Double::sum : (a, b) -> a - b;
            value = step.applyAsDouble(value, product());
        }
        return value;
    }

    private double product() {
        double value = power();
        while (at < text.length() && "*/".indexOf(text.charAt(at)) >= 0) {
            boolean times = text.charAt(at++) == '*';
            double other = power();
            value = times ? value * other : value / other;
        }
        return value;
    }

    private double power() {
        double base = atom();
        if (at < text.length() && text.charAt(at) == '^') {
            at++;
            return Math.pow(base, power());
        }
        return base;
    }

    private double atom() {
        if (text.charAt(at) == '-') {
            at++;
            return -atom();
        }
        if (text.charAt(at) == '(') {
            at++;
            double value = sum();
            at++;
            return value;
        }
        int start = at;
        while (at < text.length() && (Character.isDigit(text.charAt(at)) || text.charAt(at) == '.')) {
            at++;
        }
        return Double.parseDouble(text.substring(start, at));
    }

    public static void main(String[] args) {
        for (String code : new String[] {"1 + 2 * 3", "(1 + 2) * 3", "2 ^ 3 ^ 2", "-4 + 10 / 4", "7 / (3 - 3)"}) {
            System.out.println(code + " = " + new Calculator(code).sum());
        }
    }
}
