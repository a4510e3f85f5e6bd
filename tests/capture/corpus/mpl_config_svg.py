# expect: svg@show
%matplotlib inline
%config InlineBackend.figure_formats = ['svg']
import matplotlib.pyplot as plt
plt.plot([1, 2])
plt.show()
