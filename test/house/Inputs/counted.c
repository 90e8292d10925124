// Of six lines that count one never runs; one more, which says ICE, does not count.
// clang-format off: where lines break is the point
#define ICE(text) __builtin_trap()

static int twice(int x) {
    if (x < 0) ICE("nobody asks for it");
    if (x > 1000)
        return 0;   // never run
    return 2 * x;
}

int main(int argc, char **argv) {
    (void)argv;
    return twice(argc) != 2;
}
