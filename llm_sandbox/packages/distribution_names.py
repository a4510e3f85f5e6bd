"""Distributions of Python modules whose names differ."""

from collections.abc import Iterable

__all__ = ["DISTRIBUTIONS", "suggest"]

DISTRIBUTIONS = {
    "attr": "attrs",
    "Bio": "biopython",
    "bs4": "beautifulsoup4",
    "Crypto": "pycryptodome",
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "dns": "dnspython",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "fitz": "pymupdf",
    "git": "gitpython",
    "igraph": "python-igraph",
    "jose": "python-jose",
    "jwt": "pyjwt",
    "Levenshtein": "python-levenshtein",
    "MySQLdb": "mysqlclient",
    "OpenSSL": "pyopenssl",
    "PIL": "pillow",
    "pptx": "python-pptx",
    "psycopg2": "psycopg2-binary",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "umap": "umap-learn",
    "usb": "pyusb",
    "websocket": "websocket-client",
    "yaml": "pyyaml",
    "zmq": "pyzmq",
}
"""Distribution name by module name."""

_FOLDED = {module.lower(): name for module, name in DISTRIBUTIONS.items()}


def suggest(names: Iterable[str]) -> str | None:
    """Return the distributions that module names among these stand for; None without any."""
    meant = [
        f"{name} comes with {_FOLDED[name.lower()]}" for name in names if name.lower() in _FOLDED
    ]
    return f"did you mean another name? {', '.join(meant)}" if meant else None
