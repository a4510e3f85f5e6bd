package sandbox.shell;

import java.util.ArrayList;
import java.util.List;
import jdk.jshell.SourceCodeAnalysis;
import jdk.jshell.SourceCodeAnalysis.Completeness;
import jdk.jshell.SourceCodeAnalysis.CompletionInfo;

/** One snippet of a run's code, the unit that JShell evaluates. */
final class Piece {
    private static final int LONGEST = 20_000;

    /** The code of the run. */
    final String code;
    /** The number of the run. */
    final int run;
    /** Start offset in the code. */
    final int start;
    /** End offset in the code. */
    final int end;
    /** The snippet. */
    final String source;
    /** Whether the snippet is complete. */
    final boolean complete;
    /** Whether it ends like a statement; otherwise JShell completes it. */
    final boolean closed;

    private Piece(
            String code, int run, int start, int end, String source, Completeness status) {
        this.code = code;
        this.run = run;
        this.start = start;
        this.end = end;
        this.source = source;
        this.complete = status == Completeness.COMPLETE
            || status == Completeness.COMPLETE_WITH_SEMI
            || status == Completeness.CONSIDERED_INCOMPLETE;
        this.closed = status == Completeness.COMPLETE;
    }

    /** Cuts the code of a run; the last piece is not complete where it cannot be cut. */
    static List<Piece> cut(SourceCodeAnalysis analysis, String code, int run) {
        List<Piece> pieces = new ArrayList<>();
        cut(analysis, code, run, 0, code.length(), pieces);
        return pieces;
    }

    /**
     * Cuts a piece at ends of lines, as JShell itself takes what is typed: a line that is complete
     * needs no semicolon. Returns nothing where that does not help.
     */
    List<Piece> lines(SourceCodeAnalysis analysis) {
        List<Piece> lines = new ArrayList<>();
        int from = start;
        int to = start;
        while (to < end && end - start < LONGEST) {
            int next = code.indexOf('\n', to);
            to = next < 0 || next >= end ? end : next + 1;
            List<Piece> found = new ArrayList<>();
            if (cut(analysis, code, run, from, to, found)) {
                lines.addAll(found);
                from = to;
            }
        }
        return from == end && lines.size() > 1 ? lines : List.of();
    }

    /** Adds the pieces between two places; returns whether all of them are complete. */
    private static boolean cut(
            SourceCodeAnalysis analysis, String code, int run, int from, int end,
            List<Piece> pieces) {
        Boundaries boundaries = new Boundaries(code, end);
        int start = boundaries.begin(from);
        while (start < end) {
            int stop = boundaries.next(start);
            if (stop >= 0) {
                String text = code.substring(start, stop);
                pieces.add(new Piece(code, run, start, stop, text, Completeness.COMPLETE));
                start = boundaries.begin(stop);
                continue;
            }
            String text = code.substring(start, end);
            CompletionInfo info = analysis.analyzeCompletion(text);
            String source = info.source() == null ? text : info.source();
            Piece last = new Piece(code, run, start, end, source, info.completeness());
            pieces.add(last);
            return last.complete;
        }
        return true;
    }

    /** Returns the line of the code, from 1, of a position in the snippet. */
    int line(long position) {
        int at = at(position);
        return 1 + (int) code.substring(0, at).chars().filter(c -> c == '\n').count();
    }

    /** Returns the column, from 1, of a position in the snippet. */
    int column(long position) {
        int at = at(position);
        return at - code.lastIndexOf('\n', at - 1);
    }

    private int at(long position) {
        return (int) Math.max(0, Math.min(code.length(), start + position));
    }

    /** Returns the text of a line of the code. */
    String text(int line) {
        return code.lines().skip(line - 1L).findFirst().orElse("");
    }
}
