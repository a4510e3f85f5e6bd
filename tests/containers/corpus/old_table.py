# Makes a call of the 32-bit table: getpid, by interrupt 0x80.
import ctypes, mmap, resource

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, 20; int 0x80; ret
address = ctypes.addressof(ctypes.c_char.from_buffer(page))
print("answered", ctypes.CFUNCTYPE(ctypes.c_int)(address)() > 0)
