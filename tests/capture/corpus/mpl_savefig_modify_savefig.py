# expect: png@savefig, svg@savefig
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
fig.savefig('a.png')
ax.set_title('new')
fig.savefig('a.svg')
plt.close()
