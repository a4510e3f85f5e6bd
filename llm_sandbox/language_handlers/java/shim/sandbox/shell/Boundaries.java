package sandbox.shell;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Ends of top-level statements and declarations. JShell's own analysis merges a method and all that
 * follows it if a switch in it throws.
 */
final class Boundaries {
    private static final Pattern WORD = Pattern.compile("[A-Za-z]+\\b");
    private static final String GOES_ON = ";.,)]?:=*/%&|^+-";

    private final String code;
    private final int end;

    Boundaries(String code, int end) {
        this.code = code;
        this.end = end;
    }

    /** Returns where code begins, from a place on, after what is no code. */
    int begin(int from) {
        int at = from;
        while (at < end) {
            int after = Character.isWhitespace(code.charAt(at)) ? at + 1 : afterComment(at);
            if (after == at || after == end && isOpen(at)) {
                break;
            }
            at = after;
        }
        return at;
    }

    /** Returns where what begins at a place ends; below 0 if nothing says so before the end. */
    int next(int begin) {
        int depth = 0;
        int at = begin;
        while (at < end) {
            int token = afterToken(at);
            char c = code.charAt(at);
            depth += "({[".indexOf(c) >= 0 ? 1 : ")}]".indexOf(c) >= 0 ? -1 : 0;
            at = token;
            boolean closes = c == ';' ? depth <= 0 : c == '}' && depth <= 0;
            if (closes && !goesOn(begin, at, c)) {
                return at;
            }
        }
        return -1;
    }

    private boolean goesOn(int begin, int at, char closed) {
        int next = begin(at);
        if (next == end) {
            return false;
        }
        String word = wordAt(next);
        if (word.equals("else") || word.equals("catch") || word.equals("finally")) {
            return true;
        }
        if (closed == ';') {
            return false;
        }
        if (word.equals("while")) {
            return wordAt(begin).equals("do");
        }
        boolean steps = code.startsWith("++", next) || code.startsWith("--", next);
        return GOES_ON.indexOf(code.charAt(next)) >= 0 && !steps;
    }

    private String wordAt(int at) {
        Matcher found = WORD.matcher(code).region(at, end);
        return found.lookingAt() ? found.group() : "";
    }

    /** Returns what comes after a character, a whole comment or a whole literal. */
    private int afterToken(int at) {
        char c = code.charAt(at);
        if (c == '/') {
            return Math.max(at + 1, afterComment(at));
        }
        if (code.startsWith("\"\"\"", at)) {
            return afterLiteral(at + 3, "\"\"\"", true);
        }
        return c == '"' || c == '\'' ? afterLiteral(at + 1, String.valueOf(c), false) : at + 1;
    }

    private int afterComment(int at) {
        boolean line = code.startsWith("//", at);
        if (!line && !code.startsWith("/*", at)) {
            return at;
        }
        int close = line ? code.indexOf('\n', at) : code.indexOf("*/", at + 2);
        return close < 0 ? end : Math.min(end, close + (line ? 1 : 2));
    }

    /** Returns whether a block comment is unterminated. */
    private boolean isOpen(int at) {
        return code.startsWith("/*", at) && code.indexOf("*/", at + 2) < 0;
    }

    private int afterLiteral(int from, String close, boolean lines) {
        for (int at = from; at < end; at++) {
            if (code.startsWith(close, at)) {
                return Math.min(end, at + close.length());
            }
            char c = code.charAt(at);
            if (c == '\n' && !lines) {
                return at;
            }
            at += c == '\\' ? 1 : 0;
        }
        return end;
    }
}
