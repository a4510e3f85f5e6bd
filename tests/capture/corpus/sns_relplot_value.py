# expect: png@cell_end
import seaborn as sns
g = sns.relplot(x=[1, 2], y=[2, 1])
