# expect: pdf@savefig
import matplotlib.pyplot as plt
plt.plot([1, 2])
with open('f', 'wb') as f:
    plt.savefig(f, format='pdf')
plt.close()
assert open('f', 'rb').read(4) == b'%PDF'
