"""Patterns for paths, as `Path.glob` knows them."""

from fnmatch import fnmatchcase

__all__ = ["matches"]


def matches(path: str, pattern: str) -> bool:
    """Whether a relative path fits a pattern, whose ``**`` stands for any number of folders."""
    names, wanted = path.split("/"), pattern.strip("/").split("/")
    # One row of the usual table: which beginnings of the path fit the pattern so far.
    fits = [True] + [False] * len(names)
    for number, part in enumerate(wanted):
        last = number == len(wanted) - 1
        row = [False] * (len(names) + 1)
        if part == "**":
            reached = False
            for at in range(len(names) + 1):
                reached = reached or fits[at]
                # At the end it stands for files, too: at least one name.
                row[at] = reached and (not last or at > 0)
        else:
            for at in range(len(names)):
                row[at + 1] = fits[at] and fnmatchcase(names[at], part)
        fits = row
    return fits[-1]
