# expect: png@cell_end, svg@cell_end
import matplotlib.pyplot as plt
plt.plot([1, 2])
None
# %%
%config InlineBackend.figure_formats = ['svg']
plt.plot([1, 2])
None
