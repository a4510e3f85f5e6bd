# Fills a place with as many bytes, or files, as the arguments say; prints how far it came and why it
# stopped, and leaves nothing behind.
import errno, os, shutil, sys, tempfile

place, kind, most = tempfile.mkdtemp(dir=sys.argv[1]), sys.argv[2], int(sys.argv[3])
done = 0
try:
    if kind == "bytes":
        with open(f"{place}/filler", "wb", buffering=0) as file:
            while done < most:
                done += file.write(b"x" * 65536)
    else:
        while done < most:
            os.mknod(f"{place}/{done}")
            done += 1
except OSError as error:
    print(done, errno.errorcode[error.errno])
else:
    print(done, "ok")
shutil.rmtree(place)
