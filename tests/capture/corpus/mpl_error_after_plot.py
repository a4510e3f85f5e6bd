# expect: png@cell_end
# error: ZeroDivisionError
import matplotlib.pyplot as plt
plt.plot([1, 2])
1 / 0
