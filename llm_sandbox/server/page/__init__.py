"""Web page at ``/ui``: static files over the API below ``/v1``, with nothing from elsewhere."""

from llm_sandbox.server.page.pages import make_page

__all__ = ["make_page"]
