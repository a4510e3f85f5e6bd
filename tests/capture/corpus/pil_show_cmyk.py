# expect: png@show, png@show
from PIL import Image
im = Image.new('RGB', (4, 3), 'red')
im.convert('CMYK').show()
im.convert('F').show(title='t')
