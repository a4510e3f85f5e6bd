"""Draw a line."""

import matplotlib.pyplot as plt

plt.plot([1, 4, 9, 16])
plt.show()
