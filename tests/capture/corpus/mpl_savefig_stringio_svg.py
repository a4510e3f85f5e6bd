# expect: svg@savefig
import matplotlib.pyplot as plt
import io
b = io.StringIO()
plt.plot([1, 2])
plt.savefig(b, format='svg')
plt.close()
assert '<svg' in b.getvalue()
