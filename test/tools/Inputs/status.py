# status.py N COMMAND...: runs the command and succeeds when its exit status is N. Its output, errors included, goes to standard output.
import subprocess, sys
result = subprocess.run(sys.argv[2:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
sys.stdout.buffer.write(result.stdout)
sys.stdout.flush()
if result.returncode != int(sys.argv[1]):
    sys.exit(f"exit status {result.returncode}, expected {sys.argv[1]}")
