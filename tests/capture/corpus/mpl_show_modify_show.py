# expect: png@show, png@show
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.plot([1, 2])
plt.show()
ax.set_title('t')
plt.show()
