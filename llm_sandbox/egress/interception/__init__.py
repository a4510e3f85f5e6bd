"""TLS connections to hosts that a secret is bound to: ended in the gate, where placeholders are
replaced, and made anew to the host itself.
"""
