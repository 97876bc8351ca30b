"""Carries MCP from standard input and output to a server of streamable HTTP: mcp_bridge.py URL. For the protocol's own tests of clients,
whose servers speak HTTP alone. Begin reading at main."""

from __future__ import annotations

import json
import sys
import urllib.request


def messages_in(body: str, kind: str) -> list[str]:
    """Of a JSON body, or of a stream of events."""
    if kind.startswith("text/event-stream"):
        return [line[5:].strip() for line in body.splitlines() if line.startswith("data:") and line[5:].strip()]
    return [body] if body.strip() else []


def main() -> None:
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    for line in sys.stdin:
        request = urllib.request.Request(sys.argv[1], line.strip().encode(), headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            if session := answer.headers.get("Mcp-Session-Id"):
                headers["Mcp-Session-Id"] = session
            for text in messages_in(answer.read().decode(), answer.headers.get("Content-Type", "")):
                message = json.loads(text)
                if message.get("result", {}).get("protocolVersion"):
                    headers["MCP-Protocol-Version"] = message["result"]["protocolVersion"]
                print(json.dumps(message), flush=True)


if __name__ == "__main__":
    main()
