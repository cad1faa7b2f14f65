/* A mechanism as a process, in C: two-sided geometric noise with decay exp(-1 / scale) on a whole number.
   Argument: the scale (1 is right for epsilon 1 and sensitivity 1). It declares no noise_factor. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static uint64_t next(void) { /* splitmix64 */
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static long geometric(double scale) {
    double u = ((double)(next() >> 11) + 0.5) / 9007199254740992.0;
    return (long)floor(-log(u) * scale);
}

static const char *after(const char *line, const char *key) {
    const char *found = strstr(line, key);
    return found ? found + strlen(key) : NULL;
}

int main(int argc, char **argv) {
    double scale = argc > 1 ? atof(argv[1]) : 1.0;
    long data = 0;
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        const char *value;
        if (strstr(line, "\"protocol\"")) {
            puts("{\"ready\": true, \"kind\": \"release\"}");
        } else {
            if ((value = after(line, "\"data\":"))) data = (long)atof(value);
            if ((value = after(line, "\"seed\":\""))) state = strtoull(value, NULL, 10);
            long id = atol(after(line, "\"id\":")), runs = atol(after(line, "\"runs\":"));
            printf("{\"id\": %ld, \"outputs\": [", id);
            for (long i = 0; i < runs; i++)
                printf(i ? ", %ld" : "%ld", data + geometric(scale) - geometric(scale));
            puts("]}");
        }
        fflush(stdout);
    }
    return 0;
}
