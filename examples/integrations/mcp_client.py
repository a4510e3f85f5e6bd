"""Use the MCP server the way clients do: start it, list its tools, have a figure drawn.

    pip install '.[mcp]'
    python examples/integrations/mcp_client.py

Clients such as Claude, Cursor, VS Code and Codex do this by themselves:
``llm-sandbox mcp --config`` prints what each of them has to be told.
"""

import asyncio
import base64
import sys
from pathlib import Path

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

SERVER = StdioServerParameters(
    command=sys.executable, args=["-m", "llm_sandbox", "mcp", "--memory", "1g", "--no-install"]
)
CODE = """\
import matplotlib.pyplot as plt

squares = [n * n for n in range(10)]
plt.plot(squares)
plt.title("Squares")
plt.show()
sum(squares)
"""


def save(path: Path, picture: str) -> None:
    """Write a picture to the disk."""
    path.write_bytes(base64.b64decode(picture))
    print(f"saved {path}")


async def main() -> None:
    """Run code, and what needs the code before."""
    async with Client(stdio_client(SERVER)) as client:
        print("tools:", ", ".join(tool.name for tool in (await client.list_tools()).tools))
        drawn = await client.call_tool("run_code", {"code": CODE})
        for part in drawn.content:
            if part.type == "text":
                print(part.text)
            elif part.type == "image":
                save(Path("squares.png"), part.data)
        again = await client.call_tool("run_code", {"code": "print(squares[-1])"})
        print((again.structured_content or {})["status"], again.content[0].text)


asyncio.run(main())
