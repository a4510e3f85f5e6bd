# expect: png@savefig
import matplotlib.pyplot as plt
plt.plot([1, 2])
plt.savefig('a.png')
plt.savefig('a.pdf')
plt.close()
