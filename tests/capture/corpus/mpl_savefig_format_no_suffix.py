# expect: svg@savefig
import matplotlib.pyplot as plt
import os
plt.plot([1, 2])
plt.savefig('noext', format='svg')
plt.close()
assert os.listdir() == ['noext']
