"""A mechanism behind a command: Laplace noise of scale 1 on a number."""

import json
import random
import sys

data = 0.0
for line in sys.stdin:
    request = json.loads(line)
    if "protocol" in request:
        answer = {"ready": request["kind"] == "release", "kind": "release", "noise_factor": True}
    else:
        data = request.get("data", data)
        coins, b = random.Random(int(request["seed"])), request.get("noise_factor", 1.0)
        outputs = [data + b * (coins.expovariate(1) - coins.expovariate(1)) for _ in range(request["runs"])]
        answer = {"id": request["id"], "outputs": outputs}
    print(json.dumps(answer), flush=True)
