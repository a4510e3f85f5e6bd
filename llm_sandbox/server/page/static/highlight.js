// Colours of source text: comments, strings, numbers, words of the language.

import { el } from "./dom.js";

const WORDS = {
  python: "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield",
  javascript: "async await break case catch class const continue default delete do else export extends false finally for from function if import in instanceof let new null of return static super switch this throw true try typeof undefined var void while yield",
  r: "break else FALSE for function if in Inf library NA NaN next NULL repeat return TRUE while",
  ruby: "and begin break case class def do else elsif end ensure false for if in module next nil not or puts redo require rescue retry return self super then true undef unless until when while yield",
  bash: "case do done echo elif else esac exit export fi for function if in local return set then until while",
  java: "abstract boolean break byte case catch char class continue default do double else enum extends false final finally float for if implements import int interface long new null package private protected public record return short static super switch this throw throws true try var void while",
  cpp: "auto bool break case catch char class const constexpr continue default delete do double else enum false float for if include int long namespace new nullptr operator private public return short signed sizeof static std struct switch template this throw true try typename unsigned using virtual void while",
  go: "break case chan const continue default defer else fallthrough false for func go goto if import interface map nil package range return select struct switch true type var",
};
WORDS.typescript = `${WORDS.javascript} any as boolean enum implements interface keyof namespace never number private public readonly string type unknown`;

const HASH = new Set(["python", "r", "ruby", "bash"]);

function pattern(language) {
  const comment = HASH.has(language) ? "#[^\\n]*" : "//[^\\n]*|/\\*[\\s\\S]*?(?:\\*/|$)";
  const long = language === "python" ? '"""[\\s\\S]*?(?:"""|$)|\'\'\'[\\s\\S]*?(?:\'\'\'|$)|' : "";
  const text = `${long}"(?:\\\\.|[^"\\\\\\n])*"?|'(?:\\\\.|[^'\\\\\\n])*'?|\`(?:\\\\.|[^\`\\\\])*\`?`;
  return new RegExp(`(${comment})|(${text})|(\\b\\d[\\w.]*)|([A-Za-z_]\\w*)(?=(\\s*\\()?)`, "g");
}

const LONGEST = 50000;

export function highlighted(code, language) {
  const parts = document.createDocumentFragment();
  if (code.length > LONGEST) {
    parts.append(code);
    return parts;
  }
  const words = new Set((WORDS[language] ?? "").split(" "));
  let place = 0;
  for (const found of code.matchAll(pattern(language))) {
    const [text, comment, string, number, name, called] = found;
    const kind = comment ? "c" : string ? "s" : number ? "n" : words.has(name) ? "k" : called ? "f" : null;
    if (!kind) continue;
    parts.append(code.slice(place, found.index), el("span", { class: `hl-${kind}` }, text));
    place = found.index + text.length;
  }
  parts.append(code.slice(place));
  return parts;
}
