# expect: png@savefig
import matplotlib.pyplot as plt
plt.plot([1, 2])
plt.savefig('/dev/null', format='png')
plt.close()
