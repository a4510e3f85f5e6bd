# %% data
from datetime import datetime, timedelta
stamps = [datetime(2024, 1, 1) + timedelta(days=d) for d in (0, 0, 1, 2, 2, 2, 3, 4)]
# %% program
import matplotlib.pyplot as plt
plt.hist(stamps, bins=4)
plt.gcf().autofmt_xdate()
plt.show()
# %% expected
e = [datetime(2024, 1, 1 + i).date().isoformat() for i in range(5)]
expected = [{"kind": "histogram", "x": {"scale": "datetime"}, "series": [{"kind": "histogram", "columns": {"start": e[:-1], "end": e[1:], "count": [2, 1, 3, 2]}}]}]
