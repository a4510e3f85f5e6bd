"""Give a result to a model: the error first, pictures as pictures, and never too long."""

from llm_sandbox import create_session

CODE = """
import matplotlib.pyplot as plt

for step in range(100_000):
    print("step", step)
plt.plot([1, 4, 9])
plt.show()
result = {"a": 1}["b"]
"""

with create_session(lang="python") as session:
    result = session.run(CODE)

for part in result.for_llm(max_tokens=800):
    if part["type"] == "input_text":
        print(part["text"])
    else:
        print("a picture of", len(part["image_url"]), "characters")

# What was left out can be asked for by its handle.
print(result.read("stdout", offset=500_000, limit=40))
