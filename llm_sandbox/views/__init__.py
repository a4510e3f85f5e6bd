"""Views of results and sessions: for models, terminals, browsers, notebooks.

Content from inside is never decoded or rendered here; it is quoted, fenced or escaped. Start at
`llm.for_llm`, `handles.read`, `terminal.render`, `report.html_report` or `notebook.to_notebook`.
"""
