# expect: svg@savefig
import matplotlib.pyplot as plt
plt.plot([1, 2])
plt.savefig('a.svg')
plt.close()
