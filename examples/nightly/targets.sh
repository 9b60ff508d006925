#!/bin/bash
# Slurm, a job a target: `bash targets.sh` in the folder of the settings file, on the node that submits.
# Each job has what the `needs` of its target ask for; merge.sbatch joins them once all have ended.
set -euo pipefail
. .venv/bin/activate
mapfile -t options < <(reprocheck suite list --format sbatch)
of=${#options[@]}
jobs=()
for ((number = 1; number <= of; number++)); do
    # shellcheck disable=SC2086 # options are words without spaces
    jobs+=("$(sbatch --parsable ${options[number - 1]} target.sbatch "$number/$of")")
done
IFS=:
sbatch --dependency="afterany:${jobs[*]}" merge.sbatch
