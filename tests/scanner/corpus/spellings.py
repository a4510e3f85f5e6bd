"""Ways to write a piece of text without writing it: expressions whose value is that text."""

from __future__ import annotations

import base64
import binascii
import codecs
import json
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SPELLINGS", "Spelling"]

Spelling = tuple[str, str]
"""Statements that come first, and the expression."""


def _half(text: str) -> tuple[str, str]:
    middle = max(1, len(text) // 2)
    return text[:middle], text[middle:]


def _concatenated(text: str) -> Spelling:
    first, second = _half(text)
    return "", f"{first!r} + {second!r}"


def _letter_sum(text: str) -> Spelling:
    return "", " + ".join(map(repr, text))


def _adjacent(text: str) -> Spelling:
    first, second = _half(text)
    return "", f"({first!r} {second!r})"


def _characters(text: str) -> Spelling:
    return "", " + ".join(f"chr({ord(char)})" for char in text)


def _character_arithmetic(text: str) -> Spelling:
    return "", "''.join([" + ", ".join(f"chr({ord(c) - 3} + 3)" for c in text) + "])"


def _ordinals(text: str) -> Spelling:
    return "", " + ".join(f"chr(ord({chr(ord(char) - 1)!r}) + 1)" for char in text)


def _reversed_slice(text: str) -> Spelling:
    return "", f"{text[::-1]!r}[::-1]"


def _reversed_join(text: str) -> Spelling:
    return "", f"''.join(reversed({text[::-1]!r}))"


def _base64(text: str) -> Spelling:
    return "import base64", f"base64.b64decode({base64.b64encode(text.encode())!r}).decode()"


def _base64_alias(text: str) -> Spelling:
    coded = base64.b64encode(text.encode()).decode()
    return "from base64 import b64decode as d", f"d({coded!r}).decode('utf-8')"


def _base32(text: str) -> Spelling:
    return "import base64", f"base64.b32decode({base64.b32encode(text.encode())!r}).decode()"


def _base85(text: str) -> Spelling:
    return "import base64", f"str(base64.b85decode({base64.b85encode(text.encode())!r}), 'utf-8')"


def _hex(text: str) -> Spelling:
    return "", f"bytes.fromhex({text.encode().hex()!r}).decode()"


def _unhexlify(text: str) -> Spelling:
    return "import binascii", f"binascii.unhexlify({binascii.hexlify(text.encode())!r}).decode()"


def _codec_hex(text: str) -> Spelling:
    return "import codecs", f"codecs.decode({text.encode().hex()!r}, 'hex').decode()"


def _rot13(text: str) -> Spelling:
    return "import codecs", f"codecs.decode({codecs.encode(text, 'rot13')!r}, 'rot13')"


def _rot13_encode(text: str) -> Spelling:
    return "import codecs", f"codecs.encode({codecs.encode(text, 'rot13')!r}, 'rot_13')"


def _joined(text: str) -> Spelling:
    return "", f"''.join({list(text)!r})"


def _formatted(text: str) -> Spelling:
    first, second = _half(text)
    return "", f"'{{}}{{}}'.format({first!r}, {second!r})"


def _formatted_names(text: str) -> Spelling:
    first, second = _half(text)
    return "", f"'{{b}}{{a}}'.format(a={second!r}, b={first!r})"


def _f_string(text: str) -> Spelling:
    first, second = _half(text)
    return f"left, right = {first!r}, {second!r}", "f'{left}{right}'"


def _percent(text: str) -> Spelling:
    first, second = _half(text)
    return "", f"'%s%s' % ({first!r}, {second!r})"


def _percent_c(text: str) -> Spelling:
    numbers = ", ".join(str(ord(char)) for char in text)
    return "", f"{'%c' * len(text)!r} % ({numbers},)"


def _sliced(text: str) -> Spelling:
    padded = f"xx{text}yy"
    return "", f"{padded!r}[2:{2 + len(text)}]"


def _stepped(text: str) -> Spelling:
    return "", f"{''.join(f'{char}-' for char in text)!r}[::2]"


def _bytes(text: str) -> Spelling:
    return "", f"bytes({list(text.encode())!r}).decode()"


def _bytearray(text: str) -> Spelling:
    return "", f"bytearray({list(text.encode())!r}).decode('ascii')"


def _zlib(text: str) -> Spelling:
    return "import zlib", f"zlib.decompress({zlib.compress(text.encode())!r}).decode()"


def _zlib_base64(text: str) -> Spelling:
    coded = base64.b64encode(zlib.compress(text.encode()))
    return "import base64, zlib", f"zlib.decompress(base64.b64decode({coded!r})).decode()"


def _replaced(text: str) -> Spelling:
    return "", f"{'#'.join(text)!r}.replace('#', '')"


def _mapped(text: str) -> Spelling:
    return "", f"''.join(map(chr, {[ord(c) for c in text]!r}))"


def _xor(text: str) -> Spelling:
    return "", f"''.join(chr(n ^ 7) for n in {[ord(c) ^ 7 for c in text]!r})"


def _xor_bytes(text: str) -> Spelling:
    return "", f"bytes(b ^ 42 for b in {bytes(ord(c) ^ 42 for c in text)!r}).decode()"


def _escaped(text: str) -> Spelling:
    return "", "'" + "".join(f"\\x{ord(char):02x}" for char in text) + "'"


def _unicode_escaped(text: str) -> Spelling:
    return "", "'" + "".join(f"\\u{ord(char):04x}" for char in text) + "'"


def _octal(text: str) -> Spelling:
    return "", "'" + "".join(f"\\{ord(char):03o}" for char in text) + "'"


def _swapped(text: str) -> Spelling:
    return "", f"{text.swapcase()!r}.swapcase()"


def _stripped(text: str) -> Spelling:
    return "", f"{f'  {text} '!r}.strip()"


def _translated(text: str) -> Spelling:
    plain = "abcdefghijklmnopqrstuvwxyz"
    turned = plain[5:] + plain[:5]
    coded = text.translate(str.maketrans(plain, turned))
    return "", f"{coded!r}.translate(str.maketrans({turned!r}, {plain!r}))"


def _from_dict(text: str) -> Spelling:
    return f"names = {{'one': 'two', 'key': {text!r}}}", "names['key']"


def _from_list(text: str) -> Spelling:
    return f"names = ['decoy', {text!r}]", "names[-1]"


def _split(text: str) -> Spelling:
    return "", f"{f'one|{text}|two'!r}.split('|')[1]"


def _number(text: str) -> Spelling:
    number = int.from_bytes(text.encode(), "big")
    return "", f"({number}).to_bytes({len(text.encode())}, 'big').decode()"


def _added(text: str) -> Spelling:
    first, second = _half(text)
    return f"name = {first!r}\nname += {second!r}", "name"


def _constant(text: str) -> Spelling:
    return f"NAME = {text!r}\nother = NAME", "other"


def _conditional(text: str) -> Spelling:
    return "", f"({text!r} if 2 > 1 else 'decoy')"


def _either(text: str) -> Spelling:
    return "", f"('' or {text!r})"


def _unquoted(text: str) -> Spelling:
    coded = "".join(f"%{ord(char):02x}" for char in text)
    return "from urllib.parse import unquote", f"unquote({coded!r})"


def _json(text: str) -> Spelling:
    return "import json", f"json.loads({json.dumps(json.dumps(text))})"


def _decoded(text: str) -> Spelling:
    return "", f"{text.encode()!r}.decode('utf-8')"


def _returned(text: str) -> Spelling:
    return f"def name():\n    return {text!r}\n", "name()"


def _lambda(text: str) -> Spelling:
    first, second = _half(text)
    return "", f"(lambda a, b: a + b)({first!r}, {second!r})"


def _loop(text: str) -> Spelling:
    numbers = [ord(char) for char in text]
    return f"name = ''\nfor number in {numbers!r}:\n    name += chr(number)\n", "name"


def _class(text: str) -> Spelling:
    return f"class Names:\n    first = {text!r}\n", "Names.first"


def _comprehension(text: str) -> Spelling:
    return "", f"''.join([char for char in {'-'.join(text)!r} if char != '-'])"


SPELLINGS: dict[str, Callable[[str], Spelling]] = {
    name[1:]: value
    for name, value in list(globals().items())
    if name.startswith("_") and name != "_half" and callable(value) and not name.startswith("__")
}
"""Every function above, by its name."""
