"""A mechanism as a process, in plain Python: Laplace noise on a number, of scale 1 or of the scale given."""

import json
import random
import sys

scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
data = 0.0
for line in sys.stdin:
    request = json.loads(line)
    if "protocol" in request:
        answer = {"ready": request["kind"] == "release", "kind": "release", "noise_factor": True}
    else:
        data = request.get("data", data)
        coins = random.Random(int(request["seed"]))
        b = scale * request.get("noise_factor", 1.0)
        outputs = [data + b * (coins.expovariate(1) - coins.expovariate(1)) for _ in range(request["runs"])]
        answer = {"id": request["id"], "outputs": outputs}
    print(json.dumps(answer), flush=True)
