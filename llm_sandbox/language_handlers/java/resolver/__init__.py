"""Maven's resolution of dependencies, and nothing else of Maven: a program of its own, which runs
apart from this library.

It reads descriptions of artifacts (POMs) from repositories, decides versions as Maven does (the
nearest declaration wins, the first of equally near ones), and writes the files of what is needed at
run time to a folder. Not taken from descriptions: repositories, and anything that would run.
"""
