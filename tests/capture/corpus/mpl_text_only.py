# expect: png@cell_end
import matplotlib.pyplot as plt
plt.figure().text(0.5, 0.5, 'only text')
None
