# expect: png@cell_end
import matplotlib.pyplot as plt
plt.plot([1, 2])
None
