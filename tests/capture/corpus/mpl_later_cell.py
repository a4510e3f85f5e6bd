# expect: png@cell_end, png@show
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.plot([1, 2])
None
# %%
fig
