# expect: png@show
import seaborn.objects as so
so.Plot(x=[1, 2], y=[2, 1]).add(so.Dot())
