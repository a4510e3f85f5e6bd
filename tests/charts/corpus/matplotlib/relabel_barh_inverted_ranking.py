# %% data
import numpy as np
people = ("Tom", "Dick", "Harry", "Slim", "Jim")
performance = np.array([9.5, 5.25, 11.0, 4.5, 8.0])
error = np.array([0.5, 0.25, 1.0, 0.75, 0.5])
# %% program
import matplotlib.pyplot as plt

fig, ax = plt.subplots()
y_pos = np.arange(len(people))
order = performance.argsort()[::-1]

ax.barh(y_pos, performance[order], xerr=error[order], align="center", capsize=3)
ax.set_yticks(y_pos, labels=[people[i] for i in order])
ax.invert_yaxis()  # labels read top-to-bottom
ax.set_xlabel("Performance")
ax.set_title("How fast do you want to go today?")
plt.tight_layout()
plt.show()
# %% expected
ranked = sorted(zip(performance.tolist(), people, error.tolist()), reverse=True)
who, score = [p for _, p, _ in ranked], [s for s, _, _ in ranked]
expected = [{"kind": "bar", "orientation": "horizontal", "title": "How fast do you want to go today?",
    "x": {"label": "Performance", "scale": "linear"}, "y": {"scale": "category", "ticks": who},
    "series": [{"kind": "bar", "columns": {"x": score, "y": who}},
               {"kind": "errorbar", "columns": {"x_low": [s - e for s, _, e in ranked], "x_high": [s + e for s, _, e in ranked], "y": who}}]}]
