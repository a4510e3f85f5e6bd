"""What a figure shows, read as data inside the sandbox.

Every library has its own reader; all of them build the record that ``record`` describes.
"""
