"""Results and sessions as others want to see them: models, terminals, browsers, notebooks.

Nothing here decodes or renders what comes from inside; it is quoted, fenced or escaped. Start at
`llm.for_llm`, `handles.read`, `terminal.render`, `report.html_report` or `notebook.to_notebook`.
"""
