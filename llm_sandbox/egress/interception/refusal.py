"""Why a connection does not go on."""

__all__ = ["Refusal"]


class Refusal(Exception):
    """What is asked for is not carried.

    Args:
        reason: Stable word for the event; see `NetworkEvent.hint`.
        detail: What else there is to say; never a value of a secret.
        status: Status of the answer that a program gets where it can have one.
        protocol: What closed: ``tls`` or ``http``.
        verdict: ``denied`` or ``failed``.
    """

    def __init__(
        self,
        reason: str,
        detail: str = "",
        *,
        status: str = "403 Forbidden",
        protocol: str = "http",
        verdict: str = "denied",
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail
        self.status = status
        self.protocol = protocol
        self.verdict = verdict

    def answer(self) -> bytes:
        """What a program is answered that speaks HTTP."""
        text = f"llm-sandbox: this request was not sent on: {self.reason}\n"
        return (
            f"HTTP/1.1 {self.status}\r\nContent-Type: text/plain\r\nConnection: close\r\n"
            f"Content-Length: {len(text)}\r\n\r\n{text}"
        ).encode("ascii")
