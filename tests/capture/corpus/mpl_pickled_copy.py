# expect: png@show, png@show
import matplotlib.pyplot as plt
import pickle
fig, ax = plt.subplots()
ax.plot([1, 2])
fig.show()
copy = pickle.loads(pickle.dumps(fig))
copy.set_size_inches(2, 2)
plt.close(fig)
copy.show()
