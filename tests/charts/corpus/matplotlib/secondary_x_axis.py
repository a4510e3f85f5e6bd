# %% data
import numpy as np
wavelength = np.array([400.0, 500.0, 625.0, 800.0])
absorbance = np.array([0.9, 0.4, 0.65, 0.1])
# %% program
import matplotlib.pyplot as plt

fig, ax = plt.subplots(layout="constrained", figsize=(7, 4))
ax.plot(wavelength, absorbance, "o-", color="darkviolet")
ax.set_xlabel("Wavelength (nm)")
ax.set_ylabel("Absorbance")
ax.set_title("Spectrum")


def to_ev(nm):
    return 1239.84 / np.maximum(nm, 1e-9)


secax = ax.secondary_xaxis("top", functions=(to_ev, to_ev))
secax.set_xlabel("Energy (eV)")
plt.show()
# %% expected
expected = [{"kind": "line", "title": "Spectrum", "x": {"label": "Wavelength (nm)"}, "more_axes": {"x2": {"label": "Energy (eV)"}},
    "series": [{"kind": "line", "axis": "y", "columns": {"x": wavelength, "y": absorbance}}]}]
