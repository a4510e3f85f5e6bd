# expect: png@savefig
import matplotlib.pyplot as plt
plt.plot([1, 2])
plt.savefig('a.png', transparent=True, bbox_inches='tight', facecolor='red')
plt.show()
