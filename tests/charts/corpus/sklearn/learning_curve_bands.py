# %% data
import numpy as np
sizes = np.array([20, 40, 60, 80])
train = np.array([[0.99, 0.98, 0.97], [0.97, 0.96, 0.96], [0.95, 0.95, 0.94], [0.94, 0.93, 0.94]])
test = np.array([[0.70, 0.65, 0.72], [0.78, 0.75, 0.80], [0.82, 0.84, 0.83], [0.86, 0.85, 0.87]])
# %% program
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(8, 5))
for scores, label, color in ((train, "Training score", "r"), (test, "Cross-validation score", "g")):
    mean, std = scores.mean(axis=1), scores.std(axis=1)
    ax.fill_between(sizes, mean - std, mean + std, alpha=0.1, color=color)
    ax.plot(sizes, mean, "o-", color=color, label=label)
ax.set_xlabel("Training examples")
ax.set_ylabel("Score")
ax.set_title("Learning curve (SVM)")
ax.legend(loc="best")
ax.grid()
plt.show()
# %% expected
rows = [("Training score", train), ("Cross-validation score", test)]
def band(s):
    return {"kind": "area", "columns": {"x": sizes, "y": s.mean(1) + s.std(1), "y_base": s.mean(1) - s.std(1)}}
def curve(n, s):
    return {"kind": "line", "label": n, "columns": {"x": sizes, "y": s.mean(1)}}
expected = [{"kind": "line", "title": "Learning curve (SVM)", "x": {"label": "Training examples"}, "series": [band(train), curve(*rows[0]), band(test), curve(*rows[1])]}]
