"""Units in axis labels.

Labels end in brackets for many reasons: `Speed (m/s)` names a unit, `Sales (2020)` a year, `Axis
(left)` a side. Round brackets count only if their content consists of known units. Square ones
rarely have another use: any short text counts unless it is known to be something else.
"""

import re

__all__ = ["find_unit"]

_BRACKETS = re.compile(r"(?:\(([^()]{1,40})\)|\[([^\[\]]{1,40})\])\s*$")
_MARKUP = re.compile(r"\\(?:mathrm|mathit|text|rm)\b|\\[,;: ]|[{}~]")
_POWER = re.compile(r"(?:\^|\*\*)?[-\u2212⁻]?[\d⁰¹²³⁴⁵⁶⁷⁸⁹]{1,2}$")
_FACTOR = re.compile(
    r"10(?:\^|\*\*)?[-\u2212⁻]?[\d⁰¹²³⁴⁵⁶⁷⁸⁹]+|1e[-+]?\d+|1000s?|[x\u00d7]\s?\d+|'?000s?"
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_SPLIT = re.compile(r"\s*[/·*⋅\u00d7.]\s*|\s+per\s+|\s+")

_PREFIXES = ("", *"YZEPTGMkhdcmuµμnpfaz", "da", r"\mu")
_PREFIXED = "m s g A K mol cd Hz N Pa J W C V F Ω ohm S Wb T H lm lx Bq Gy Sv L l eV Wh cal bar"
_PREFIXED += " B b bit bps B/s Torr M pc t"
_PLAIN = "min h hr hrs d wk mo yr y a.u. arb. u % ‰ ° °C °F degC degF rad sr dB dBm dBA pH ppm ppb"
_PLAIN += " in ft yd mi nmi mph kph kmh kn oz lb lbs psi atm mmHg Å ha acre gal px pt rpm fps bpm"
_PLAIN += " Ah mAh kVA VA kWp GFLOPS TFLOPS FLOPS KiB MiB GiB TiB KB Mbps Gbps kbps MB GB"
_WORDS = """
second minute hour day week month quarter year decade millisecond microsecond nanosecond sec msec
metre meter kilometre kilometer centimetre centimeter millimetre millimeter micron mile foot feet
inch inche yard gram kilogram kg km cm mm ms us ns ton tonne pound ounce litre liter millilitre
milliliter gallon barrel bbl degree radian celsius fahrenheit kelvin percent pct percentage pixel
point byte bit kilobyte megabyte gigabyte watt kilowatt megawatt volt ampere amp ohm hertz hz khz
mhz ghz joule calorie kcal newton pascal kpa hpa mpa kwh mwh gwh twh gw mw kw lumen decibel
people person inhabitant capita unit count item piece vehicle request token sample
hundred thousand million billion trillion mn bn tn mio mrd k m
dollar euro cent yen yuan rupee franc krona peso pence
"""
_CURRENCIES = "USD EUR GBP JPY CNY INR CHF CAD AUD NZD SEK NOK DKK PLN CZK BRL MXN ZAR KRW RUB TRY"
_CURRENCIES += " HKD SGD ILS AED SAR BTC ETH US$ A$ C$ HK$ R$ $ € £ ¥ ₹ ₩ ₽ ¢ Rs"
_MONEY = frozenset(_CURRENCIES.split())
_SYMBOLS = (
    frozenset(prefix + unit for unit in _PREFIXED.split() for prefix in _PREFIXES)
    | frozenset(_PLAIN.split())
    | _MONEY
)
_NAMES = frozenset(_WORDS.split())
_FILLERS = frozenset({"in", "of", "square", "cubic", "sq", "cu"})
_SCALES = frozenset({"k", "K", "M", "B", "bn", "mn", "m", "T"})
_NEVER = frozenset({"a/b", "m/f", "f/m", "b", "y/n"})
# What dates are gathered by, as in `date (month)`.
_STEPS = frozenset({"day", "week", "month", "quarter", "year", "decade"})
_OTHER = re.compile(
    r"log|ln\b|left|right|top|bottom|normali[sz]|scaled|actual|predicted|train|test|index|lower|"
    r"upper|-$|n\s*=|[<>=]|\d+\s*%|[\d\s.,;:\u2013-]+$",
    re.IGNORECASE,
)


def find_unit(label: str) -> str | None:
    """Return the unit at the end of a label, as written; None when there is none."""
    # trust: labels come from inside; the part that is looked at is bounded.
    found = _BRACKETS.search(label[-60:])
    if found is None:
        return None
    round_text, square_text = found.groups()
    text = (square_text if round_text is None else round_text).strip()
    called = found.start() and label[-60:][found.start() - 1].isalnum()
    if called and len(text) == 1:
        return None  # sin(t), P(A)
    if not text or text.lower() in _NEVER or not text.isprintable():
        return None
    if round_text is None:
        good = _is_unit(text) or (len(text) <= 16 and _OTHER.match(text) is None)
    else:
        good = _is_unit(text) and text.lower() not in _STEPS
    return text.replace(r"\$", "$") if good else None


def _is_unit(text: str) -> bool:
    money = text.replace(r"\$", "$")
    # A pair of dollar signs is TeX; a single one is money.
    bare = _MARKUP.sub("", money.replace("$", "") if money.count("$") % 2 == 0 else money).strip()
    if bare.lower().startswith("in "):
        bare = bare[3:].strip()
    if bare in _SYMBOLS or bare.lower().strip(".") in {"a.u", "arbitrary units", "arb. units"}:
        return True
    parts = [part for part in _SPLIT.split(bare) if part]
    if "%" in parts and not re.match(r"\d", bare):
        return True
    if not parts:
        return False
    if "/" in bare or " per " in bare:
        # What is counted may be anything, `requests/s`; what it is counted by has to be a unit.
        return _is_known(parts[-1]) and not (len(bare) == 3 and bare.isupper())
    counted = [part for part in parts if not _FACTOR.fullmatch(part) and part not in _FILLERS]
    if any(part in _MONEY for part in parts):
        return all(_is_known(part) or _YEAR.fullmatch(part) for part in counted)
    return bool(counted) and all(map(_is_known, counted))


def _is_known(part: str) -> bool:
    if part in _SYMBOLS:
        return True
    if part[:1] in {"$", "€", "£", "¥", "₹"} and part[1:] in _SCALES:
        return True
    if part[-1:] in {"$", "€", "£", "¥", "₹"} and part[:-1] in _SCALES:
        return True
    base = _POWER.sub("", part)
    if base and base != part and (base in _SYMBOLS or _is_name(base)):
        return True
    return _is_name(part)


def _is_name(part: str) -> bool:
    lower = part.lower()
    return lower in _NAMES or (lower.endswith("s") and lower[:-1] in _NAMES)
