# %% data
import numpy as np
people = ('Tom', 'Dick', 'Harry')
performance = np.array([5.5, 7.25, 4.0])
error = np.array([0.5, 0.25, 1.0])
# %% program
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
y_pos = np.arange(len(people))
ax.barh(y_pos, performance, xerr=error, align='center')
ax.set_yticks(y_pos, labels=people)
ax.invert_yaxis()
ax.set_xlabel('Performance')
plt.show()
# %% expected
expected = [{"kind": "bar", "orientation": "horizontal", "x": {"label": "Performance"}, "series": [
    {"kind": "bar", "columns": {"x": performance, "y": list(people)}},
    {"kind": "errorbar", "columns": {"x": performance, "y": list(people), "x_low": performance - error, "x_high": performance + error}}]}]
