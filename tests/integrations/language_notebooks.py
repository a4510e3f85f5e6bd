"""A notebook of each language: cells, and what a reader sees under each."""

from dataclasses import dataclass

STREAM = "stdout"
NOTHING: list[tuple[str, str]] = []


@dataclass(frozen=True)
class Notebook:
    """A language's own way of what every notebook does.

    Attributes:
        cells: Code, and what it shows: the kind of output (a stream, an error's name, or the type
            of data), and words in it.
        endless: Code that does not end by itself.
        sets: Code that gives a name to something.
        tells: Code that prints ``kept`` if the name is there, and fails otherwise.
        writes: Code that writes the file ``kept.txt``.
        reads: Code that prints the file's content, which is ``here``.
        mimetype, extension, name: What the kernel says of itself.
    """

    cells: list[tuple[str, list[tuple[str, str]]]]
    endless: str
    sets: str
    tells: str
    writes: str
    reads: str
    name: str
    mimetype: str
    extension: str


NOTEBOOKS = {
    "bash": Notebook(
        cells=[
            ('greet() { echo "hello $1"; }\nname=world', NOTHING),
            ("greet $name\necho oops >&2", [(STREAM, "hello world\n"), ("stderr", "oops\n")]),
            ("mkdir -p a/b && cd a/b", NOTHING),
            ("basename $PWD", [(STREAM, "b\n")]),
            ("false", [("ExitStatus", "1")]),
            ("echo begun; exit 3", [(STREAM, "begun\n"), ("ExitStatus", "3")]),
            ('read -r line || echo "no input"', [(STREAM, "no input\n")]),
            ("greet again", [(STREAM, "hello again\n")]),
        ],
        endless="while :; do :; done",
        sets="x=kept",
        tells='echo "${x:?}"',
        writes="printf here > kept.txt",
        reads="cat kept.txt",
        name="bash",
        mimetype="text/x-sh",
        extension=".sh",
    ),
    "javascript": Notebook(
        cells=[
            ("let x = 20;\nconst twice = n => n * 2", NOTHING),
            ("twice(x) + 2", [("text/plain", "42")]),
            ("console.log('out'); console.error('err')", [(STREAM, "out\n"), ("stderr", "err\n")]),
            (
                "await new Promise(done => setTimeout(() => done('later'), 20))",
                [("text/plain", "'later'")],
            ),
            ("null.length", [("TypeError", "null")]),
            ("[x, {a: 1}]", [("text/plain", "[ 20, { a: 1 } ]")]),
        ],
        endless="while (true) {}",
        sets="let kept = 'kept'",
        tells="console.log(kept)",
        writes="require('fs').writeFileSync('kept.txt', 'here')",
        reads="console.log(require('fs').readFileSync('kept.txt', 'utf8'))",
        name="javascript",
        mimetype="application/javascript",
        extension=".js",
    ),
    "typescript": Notebook(
        cells=[
            ("interface Point { x: number; y?: number }\nconst p: Point = { x: 4 };", NOTHING),
            ("const scaled = (q: Point, by: number): number => q.x * by;", NOTHING),
            ("scaled(p, 10) as number", [("text/plain", "40")]),
            ("throw new RangeError('too far')", [("RangeError", "too far")]),
            ("console.log(p)", [(STREAM, "{ x: 4 }\n")]),
        ],
        endless="for (;;) {}",
        sets="let kept: string = 'kept';",
        tells="console.log(kept)",
        writes="require('fs').writeFileSync('kept.txt', 'here')",
        reads="console.log(require('fs').readFileSync('kept.txt', 'utf8'))",
        name="typescript",
        mimetype="text/typescript",
        extension=".ts",
    ),
    "r": Notebook(
        cells=[
            ("x <- c(1, 4, 9)\nhalf <- function(n) n / 2", NOTHING),
            ("half(x)", [("text/plain", "[1] 0.5 2.0 4.5")]),
            ("plot(x, main = 'squares')", [("image/png", "iVBORw0KGgo")]),
            ("data.frame(n = 1:2, s = c('a', 'b'))", [("text/html", "<table>")]),
            ("cat('out\\n'); message('err')", [(STREAM, "out\n"), ("stderr", "err\n")]),
            ("stop('no way')", [("Error", "no way")]),
            ("sum(x)", [("text/plain", "[1] 14")]),
        ],
        endless="repeat {}",
        sets="kept <- 'kept'",
        tells="cat(kept)",
        writes="cat('here', file = 'kept.txt')",
        reads="cat(readLines('kept.txt', warn = FALSE))",
        name="R",
        mimetype="text/x-r-source",
        extension=".r",
    ),
    "ruby": Notebook(
        cells=[
            ("Point = Struct.new(:x, :y)\ndef area(p) = p.x * p.y\nnil", NOTHING),
            ("area(Point.new(6, 7))", [("text/plain", "42")]),
            ("puts 'out'; warn 'err'", [(STREAM, "out\n"), ("stderr", "err\n")]),
            ("raise ArgumentError, 'bad'", [("ArgumentError", "bad")]),
            ("gets", NOTHING),
            ("Point.new(1, 2).to_a", [("text/plain", "[1, 2]")]),
        ],
        endless="loop { }",
        sets="kept = 'kept'; nil",
        tells="puts kept",
        writes="File.write('kept.txt', 'here'); nil",
        reads="puts File.read('kept.txt')",
        name="ruby",
        mimetype="application/x-ruby",
        extension=".rb",
    ),
    "java": Notebook(
        cells=[
            ("record Point(int x, int y) {}\nint area(Point p) { return p.x() * p.y(); }", NOTHING),
            ("area(new Point(6, 7))", [("text/plain", "42")]),
            (
                'System.out.println("out"); System.err.println("err");',
                [(STREAM, "out\n"), ("stderr", "err\n")],
            ),
            ('throw new IllegalStateException("bad");', [("IllegalStateException", "bad")]),
            ('int n = "text";', [("CompileError", "incompatible types")]),
            ("new Point(1, 2)", [("text/plain", "Point[x=1, y=2]")]),
        ],
        endless="while (true) {}",
        sets='String kept = "kept";',
        tells="System.out.println(kept);",
        writes='java.nio.file.Files.writeString(java.nio.file.Path.of("kept.txt"), "here");',
        reads="System.out.println(java.nio.file.Files.readString("
        'java.nio.file.Path.of("kept.txt")));',
        name="java",
        mimetype="text/x-java-source",
        extension=".java",
    ),
}
"""Language to its notebook."""
