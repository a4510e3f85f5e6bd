# expect: png@cell_end
import pandas as pd
ax = pd.Series([1, 2]).plot()
