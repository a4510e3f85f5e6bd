"""Look into a session, put values in and take them out, and keep it as a notebook and a page."""

from llm_sandbox import BaseSession, create_session

with create_session(lang="python") as session:
    session.set("prices", [19.5, 7.25, 100.0])
    session.run("total = sum(prices)\nprint(total)")
    session.run("import matplotlib.pyplot as plt\nplt.plot(prices)\nplt.show()")
    for variable in session.variables():
        print(variable.name, variable.type, variable.preview)
    print(session.get("total"))
    print(session.to_notebook("session.ipynb"))
    print(session.report("session.html", title="Prices"))

# The notebook can be opened anywhere, and be gone on with here, but for what was put in by hand.
with BaseSession.from_notebook("session.ipynb", stop_on_error=False) as session:
    print(len(session.history), "cells were run again")
