# expect: png@show, png@cell_end
%matplotlib inline
import matplotlib.pyplot as plt
plt.plot([1, 2])
plt.show()
plt.plot([1])
None
