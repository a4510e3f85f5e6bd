"""Dependency resolver for Maven artifacts: a separate program that does not import this library.

The resolver reads descriptions of artifacts (POMs) from repositories, chooses versions as Maven
does (the nearest declaration wins, the first of equally near ones), and writes the files needed at
run time to a folder. Repositories and build instructions in descriptions are ignored.
"""
