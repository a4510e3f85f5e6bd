"""Data that goes through JSON and comes back."""

import json

stock = {
    "items": [
        {"name": "lamp", "tags": ["light", "é"], "price": 12.5, "stock": 3},
        {"name": "desk", "tags": [], "price": 99.0, "stock": 0, "note": None},
    ],
    "open": True,
}
text = json.dumps(stock, sort_keys=True, ensure_ascii=False)
print(text)
back = json.loads(text)
assert back == stock
for item in back["items"]:
    item["value"] = item["price"] * item["stock"]
print(json.dumps([item for item in back["items"] if item["value"]], indent=1))
try:
    json.loads('{"open": tru}')
except json.JSONDecodeError as error:
    print(type(error).__name__, error.pos)
