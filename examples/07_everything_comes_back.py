"""Everything a run made comes back as data: figures with their values, tables, files."""

from llm_sandbox import create_session

CODE = """
import matplotlib.pyplot as plt
import pandas as pd

sales = pd.DataFrame({"month": ["Jan", "Feb", "Mar"], "units": [12, 19, 7]})
display(sales)
plt.bar(sales["month"], sales["units"])
plt.ylabel("Units")
plt.title("Sales")
plt.show()
sales.to_csv("sales.csv", index=False)
raise RuntimeError("what was made before a failure is kept")
"""

with create_session(lang="python") as session:
    result = session.run(CODE)

for artifact in result.artifacts:
    print(artifact.describe())
    print("  saved as", artifact.save(artifact.paths[0] if artifact.paths else artifact.name))

chart = result.charts[0]
print(chart.kind, chart.title, dict(chart.series[0].columns))
print(chart.to_csv())
print(result.tables[0].to_markdown())
