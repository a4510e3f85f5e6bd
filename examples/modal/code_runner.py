"""Program for Modal's sandboxes, on this computer: only the import differs.

It runs code that a model might have written, brings back its output and a file, and shows what a
time limit does. `LLM_SANDBOX_BACKEND=docker` runs it in containers.
"""

from llm_sandbox.adapters import modal

CODE = """
import json, statistics
numbers = [3, 1, 4, 1, 5, 9, 2, 6]
with open("summary.json", "w") as file:
    json.dump({"mean": statistics.mean(numbers), "most": max(numbers)}, file)
print("done:", len(numbers), "numbers")
"""


def main() -> None:
    app = modal.App.lookup("code-runner", create_if_missing=True)
    sandbox = modal.Sandbox.create(app=app, timeout=60, block_network=True)
    try:
        process = sandbox.exec("python3", "-c", CODE, bufsize=1)
        for line in process.stdout:
            print(line, end="")
        print("exit code", process.wait())
        print(sandbox.filesystem.read_text("/root/summary.json"))

        endless = sandbox.exec("python3", "-c", "while True: pass", timeout=1)
        print("endless code:", endless.wait())
    finally:
        sandbox.terminate()
    print("sandbox:", sandbox.returncode)


if __name__ == "__main__":
    main()
