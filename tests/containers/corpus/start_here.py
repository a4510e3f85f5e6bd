# Starts a program from each place that the arguments name; prints those where it could.
import os, shutil, subprocess, sys

for place in sys.argv[1:]:
    program = shutil.copy(shutil.which("true"), os.path.join(place, "program"))
    os.chmod(program, 0o755)
    try:
        subprocess.run([program], check=True)
        print(place)
    except OSError:
        pass
