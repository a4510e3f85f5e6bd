"""How Python programs and notebook cells are read: `engine.scan`."""
