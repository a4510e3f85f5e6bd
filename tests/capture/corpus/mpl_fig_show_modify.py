# expect: png@show, png@cell_end
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.plot([1, 2])
fig.show()
ax.set_xlabel('x')
None
