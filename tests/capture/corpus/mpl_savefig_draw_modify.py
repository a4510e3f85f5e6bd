# expect: png@savefig, png@cell_end
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
fig.savefig('a.png')
ax.set_title('new')
fig.canvas.draw()
