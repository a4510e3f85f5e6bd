# %% data
import numpy as np
X = np.array([[1.0], [2.0], [3.0], [4.0]])
y = np.array([0, 0, 1, 1])
# %% program
import matplotlib.pyplot as plt
from sklearn.tree import DecisionTreeClassifier, plot_tree

clf = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
fig, ax = plt.subplots(figsize=(8, 6))
plot_tree(clf, feature_names=["dose"], class_names=["no", "yes"], filled=True, rounded=True, fontsize=10, ax=ax)
ax.set_title("Decision tree")
plt.show()
# %% expected
nodes = ["dose <= 2.5\ngini = 0.5\nsamples = 4\nvalue = [2, 2]\nclass = no", "gini = 0.0\nsamples = 2\nvalue = [2, 0]\nclass = no", "gini = 0.0\nsamples = 2\nvalue = [0, 2]\nclass = yes"]
expected = [{"kind": "other", "title": "Decision tree", "unread": ["2 arrows between texts"], "annotations": [{"text": nodes[0]}, {"text": nodes[1]}, {"text": "True"}, {"text": nodes[2]}, {"text": "False"}], "series": []}]
