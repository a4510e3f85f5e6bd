# expect: png@show
from PIL import Image
im = Image.new('RGB', (4, 3), 'red')
im.show()
