# expect: png@savefig, png@show, png@cell_end
import matplotlib.pyplot as plt
plt.figure(1)
plt.plot([1])
plt.savefig('a.png')
plt.figure(2)
plt.plot([2, 3])
plt.show()
plt.figure(3)
plt.plot([4, 3])
None
