# %% data
names = ["tiny", "small", "big", "huge"]
sizes = [3, 250, 41000, 9.3e7]
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.bar(names, sizes, log=True)
ax.set_ylabel("bytes (log)")
plt.show()
# %% expected
expected = [{"kind": "bar", "y": {"label": "bytes (log)", "scale": "log"}, "series": [{"kind": "bar", "columns": {"x": names, "y": sizes}}]}]
