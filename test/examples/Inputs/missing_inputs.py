"""Files that a target of a ninja build asks for, that nothing makes and that are not there: missing_inputs.py BUILD TARGET"""
import os
import subprocess
import sys

build, target = sys.argv[1:]


def ninja(*args):
    return subprocess.run(["ninja", "-C", build, *args], check=True, capture_output=True, text=True).stdout.splitlines()


made = {line.rpartition(": ")[0] for line in ninja("-t", "targets", "all")}
inputs = [line for line in ninja("-t", "inputs", target) if not line.startswith("ninja: ")]
missing = [name for name in inputs if name not in made and not os.path.exists(os.path.join(build, name))]
print(len(inputs), "inputs")
print("\n".join("missing: " + name for name in missing))
sys.exit(bool(missing) or len(inputs) < 100)
