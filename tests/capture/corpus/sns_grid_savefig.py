# expect: png@savefig
import seaborn as sns
g = sns.relplot(x=[1, 2], y=[2, 1])
g.savefig('g.png')
