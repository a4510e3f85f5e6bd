# expect: png@cell_end
# error: FileNotFoundError
import matplotlib.pyplot as plt
plt.plot([1])
plt.savefig('/nonexistent/dir/a.png')
