"""Engine for Python programs and notebook cells; see `engine.scan`."""
