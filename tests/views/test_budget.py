"""The estimate of tokens, against real tokenizers where they are installed."""

from __future__ import annotations

import base64
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_sandbox.views.budget import estimate_image_tokens, estimate_tokens, shares

RANDOM = random.Random(5)
SAMPLES = {
    "english": "The quick brown fox jumps over the lazy dog, and is pleased. ",
    "code": "def mean(values: list[float]) -> float:\n    return sum(values) / len(values)\n",
    "traceback": '  File "/usr/lib/python3.11/json/decoder.py", line 355, in raw\n    obj',
    "numbers": "0.123456 -1234.5678 1e-09 3.14159265358979 100000 2024-01-31T12:00:00 42\n",
    "table": "| name | value |\n| --- | ---: |\n| alpha | 0.4432 |\n| beta | 12.9 |\n",
    "base64": base64.b64encode(RANDOM.randbytes(900)).decode(),
    "hex": RANDOM.randbytes(900).hex(),
    "german": "Die Geschwindigkeitsbegrenzung auf Bundesautobahnen beträgt hundertdreißig. ",
    "japanese": "今日は天気がいいですね。機械学習モデルの評価を行います。",
    "korean": "한국어로 작성된 문장입니다. 데이터를 분석했습니다.",
    "russian": "Анализ данных показал рост продаж по сравнению с прошлым годом. ",  # noqa: RUF001
    "greek": "Η ανάλυση των δεδομένων δείχνει αύξηση των πωλήσεων. ",  # noqa: RUF001
    "hindi": "डेटा विश्लेषण से पता चलता है कि बिक्री में वृद्धि हुई है। ",
    "emoji": "🎉👩‍👩‍👧‍👦🚀🇩🇪✅⚠️❤️🤖",
    "boxes": "┌──────┬─────┐\n│ name │ n   │\n└──────┴─────┘\n",
    "symbols": "".join(chr(RANDOM.randint(33, 126)) for _ in range(900)),
    "letters": "".join(RANDOM.choice("qwxzjvkbpfg") for _ in range(900)),
    "spaces": " " * 900 + "\n" * 90 + "\t" * 90,
}


@pytest.mark.parametrize("encoding", ["cl100k_base", "o200k_base"])
@pytest.mark.parametrize("name", SAMPLES)
def test_not_below_real_tokenizers(name: str, encoding: str) -> None:
    """The estimate is not below what two widespread tokenizers count."""
    real = pytest.importorskip("bpe_openai", reason="bpe-openai is not installed")
    text = SAMPLES[name] * 5
    assert len(real.get_encoding(encoding).encode_ordinary(text)) <= estimate_tokens(text)


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("", 0, 0),
        ("hello world", 2, 4),
        ("1234567890", 4, 4),
        ("漢" * 10, 10, 20),
        ("🎉" * 10, 20, 40),
        ("QxZjWvKp" * 5, 40, 40),
        ("-" * 60, 2, 12),
        (" " * 60, 1, 2),
        ("()[]{}" * 4, 12, 24),
        (SAMPLES["english"], 14, 26),
    ],
)
def test_examples(text: str, least: int, most: int) -> None:
    """The estimate lies between what tokenizers need and twice that, about."""
    assert least <= estimate_tokens(text) <= most


@given(st.text(max_size=400), st.text(max_size=400))
def test_bounds(first: str, second: str) -> None:
    """It is never more than the bytes, and joining by a line end adds at most one."""
    size = len(first.encode("utf-8", "replace"))
    assert estimate_tokens(first) <= size + size // 2
    joined = estimate_tokens(f"{first}\n{second}")
    assert joined <= estimate_tokens(first) + estimate_tokens(second) + 1


@given(st.lists(st.integers(0, 1000), max_size=20), st.integers(0, 5000))
def test_shares(needs: list[int], total: int) -> None:
    """Nobody gets more than it needs, all together never more than there is, nothing is wasted."""
    given_out = shares(needs, total)
    assert all(share <= need for share, need in zip(given_out, needs, strict=True))
    assert sum(given_out) <= total
    assert sum(given_out) >= min(sum(needs), total - len(needs))


def test_images_cost_by_area() -> None:
    """A picture takes a token for 750 pixels."""
    assert 410 == estimate_image_tokens(640, 480)
    assert 85 == estimate_image_tokens(1, 1)
