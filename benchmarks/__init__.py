"""Speed and memory of reprocheck, measured in one run: `python -m benchmarks` writes `results.md`
beside this file.

processes   a child process, its CPU time and wall time
recorder    what recording costs: a step, a process, memory
levels      what a step costs at the deeper levels, beside other tools
accelerator the same on a GPU, with memory, copies and waits
suite_history, suite_nights, suite_pages, suite_simulation
            the nightly at its full size: `python -m benchmarks --suite` writes `suite.md`
whole       what the user waits for: --help, a check, a million iterations
table       the rows as Markdown
scripts/    what runs in the measured processes
"""
