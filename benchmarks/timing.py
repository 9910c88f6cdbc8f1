"""How one statement is timed, and how a worker process is asked for it.

A worker (`python -m benchmarks.timing CONTENDER THREADS LIMIT`) reads one JSON request a line and answers with one.
"""

import gc
import json
import statistics
import subprocess
import sys
import time
from timeit import Timer

from benchmarks import cases, contenders

SAMPLE_SECONDS = 2e-4  # a sample is at least this long, so that reading the clock costs nothing


class Timed:
    """A case made ready for one contender."""

    def __init__(self, case, contender, limit):
        statement = case.statement(contender.name)
        self.timer = Timer(statement, globals=case.names(contender, limit))
        once = self.timer.timeit(2) / 2  # also the first call, with all that it sets up
        once = min(once, self.timer.timeit(1))
        self.number = max(1, int(SAMPLE_SECONDS / max(once, 1e-9)))

    def median(self, seconds):
        """Median time of one execution, from samples over about `seconds`, after one sample that does not count."""
        self.timer.timeit(self.number)
        samples = []
        end = time.perf_counter() + seconds
        while len(samples) < 3 or time.perf_counter() < end:
            samples.append(self.timer.timeit(self.number) / self.number)
        return statistics.median(samples)


def serve(name, threads, limit):
    """Answers requests until the input ends."""
    contender = contenders.contender(name, threads)
    table = {case.name: case for case in cases.CASES}
    print(json.dumps({"version": contender.version}), flush=True)
    ready = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if request["do"] == "prepare":
                ready = None
                gc.collect()
                ready = Timed(table[request["case"]], contender, limit)
                answer = {"number": ready.number}
            else:
                answer = {"seconds": ready.median(request["seconds"])}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


class Worker:
    """One contender in a process of its own."""

    def __init__(self, name, python, threads, limit, env):
        command = [python, "-m", "benchmarks.timing", name, str(threads), str(limit)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        answer = self.process.stdout.readline()
        if not answer:
            self.process.wait()
            raise RuntimeError(f"{name} did not start with {python}")
        self.version = json.loads(answer)["version"]

    def ask(self, **request):
        """The answer to one request."""
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the worker ended with status {self.process.wait()} at {request}")
        return json.loads(answer)

    def close(self):
        """Ends the process."""
        self.process.communicate()


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
