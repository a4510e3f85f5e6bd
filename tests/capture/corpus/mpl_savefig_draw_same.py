# expect: png@savefig
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.plot([1, 2])
fig.savefig('a.png')
fig.canvas.draw()
plt.draw()
