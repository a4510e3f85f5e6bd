"""Where comments and strings begin and end, language by language."""
