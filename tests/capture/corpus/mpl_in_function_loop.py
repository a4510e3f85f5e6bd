# expect: png@show, png@show
import matplotlib.pyplot as plt
def draw(n):
    fig, ax = plt.subplots()
    ax.bar(range(n), range(n))
    ax.get_xticklabels()
    plt.show()
    ax.get_xticklabels()
    fig.get_tightbbox()
    return ax
kept = [draw(n) for n in (2, 3)]
