# expect: png@savefig
# error: ZeroDivisionError
import matplotlib.pyplot as plt
plt.plot([1, 2])
plt.savefig('a.png')
1 / 0
