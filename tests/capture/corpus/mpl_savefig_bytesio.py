# expect: png@savefig
import matplotlib.pyplot as plt
import io
b = io.BytesIO()
plt.plot([1, 2])
plt.savefig(b)
plt.close()
assert b.getvalue()[:4] == b'\x89PNG' and b.tell() == len(b.getvalue())
