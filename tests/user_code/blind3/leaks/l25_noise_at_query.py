"""Private means as closures: a mean is noised when it leaves the store."""


def private_store(rng, epsilon):
    total, n = 0.0, 0

    def put(x):
        nonlocal total, n
        total += x
        n += 1

    def ask():
        return (total + rng.laplace(0, 1 / epsilon)) / n

    return put, ask


def play(rewards, rng, epsilon=1.0):
    stores = [private_store(rng, epsilon) for _ in range(rewards.shape[1])]
    actions = []
    for t, row in enumerate(rewards):
        if t < len(stores):
            arm = t
        else:
            answers = [ask() for _, ask in stores]
            arm = answers.index(max(answers))
        stores[arm][0](row[arm])
        actions.append(arm)
    return actions
