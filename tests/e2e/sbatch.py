"""A stand-in for Slurm's sbatch: it runs each job, and each task of an array, at once.

The file in the variable SLURM_STAND_IN gets the exit code of each job.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

KNOWN = {
    "parsable", "dependency", "job-name", "nodes", "ntasks", "ntasks-per-node", "cpus-per-task",
    "gpus-per-node", "gres", "time", "array", "output",
}  # fmt: skip
given = [word for word in sys.argv[1:] if word.startswith("--")]
script, *arguments = [word for word in sys.argv[1:] if not word.startswith("--")]
pairs = [word[2:].partition("=")[::2] for word in given]
of_script = re.findall(r"^#SBATCH --([a-z-]+)=(\S+)", Path(script).read_text(), re.MULTILINE)
options = dict([*of_script, *pairs])  # what is typed wins
assert set(options) <= KNOWN, options

done = Path(os.environ["SLURM_STAND_IN"])
before = done.read_text().split() if done.exists() else []
job = str(len(before) + 100)
first, _, last = options.get("array", "0-0").partition("-")
tasks = range(int(first), int(last) + 1)
codes = []
for task in tasks:
    variables = {"SLURM_JOB_ID": job, "SLURM_JOB_NUM_NODES": options.get("nodes", "1")}
    if "array" in options:
        variables |= {
            "SLURM_ARRAY_JOB_ID": job,
            "SLURM_ARRAY_TASK_ID": str(task),
            "SLURM_ARRAY_TASK_COUNT": str(len(tasks)),
        }
    environment = {**os.environ, **variables}
    command = ["bash", script, *arguments]
    codes.append(
        subprocess.run(command, env=environment, stdout=sys.stderr, check=False).returncode
    )
done.write_text(" ".join([*before, str(max(codes))]))
print(job)
