# expect: png@savefig
import matplotlib.pyplot as plt
from pathlib import Path
plt.plot([1, 2])
plt.savefig(Path('noext'))
plt.close()
assert Path('noext.png').exists()
