# expect: png@cell_end, png@cell_end
%matplotlib inline
%config InlineBackend.close_figures = False
import matplotlib.pyplot as plt
plt.plot([1, 2])
None
# %%
1
# %%
plt.title('x')
None
