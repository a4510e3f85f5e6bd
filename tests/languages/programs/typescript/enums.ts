// Enumerations, flags, and a switch that forgets nothing.
enum Level {
  Low = 1,
  Middle,
  High = Middle * 5,
}

enum Unit {
  Metre = "m",
  Second = "s",
}

const enum Flag {
  Read = 1 << 0,
  Write = 1 << 1,
  All = Read | Write,
}

function describe(level: Level): string {
  switch (level) {
    case Level.Low:
      return "calm";
    case Level.Middle:
      return "busy";
    case Level.High:
      return "wild";
    default: {
      const never: never = level;
      return never;
    }
  }
}

console.log(Level[2], Level.High, Object.values(Unit).join("/"));
console.log([Level.Low, Level.Middle, Level.High].map(describe).join(", "));
console.log((Flag.All & Flag.Write) !== 0, Flag.All);
