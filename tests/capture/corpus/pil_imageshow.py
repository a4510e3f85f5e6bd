# expect: png@show
from PIL import Image
im = Image.new('RGB', (4, 3), 'red')
from PIL import ImageShow
ImageShow.show(im)
