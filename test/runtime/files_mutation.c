// Random mutations of small files: each is read, or refused with a status and a text, and never
// anything else. Meant for AddressSanitizer; an argument sets the number of rounds and another the
// seed.
#include "files_support.h"

enum { ROUNDS = 10000, MOST_EDITS = 8 };

static uint64_t state = 1;

static uint64_t draw(uint64_t n) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state * 0x2545f4914f6cdd1du >> 32) % n;
}

static unsigned char odd_byte(void) {
    static const char odd[] = "0123456789-+.eE,%# \t\r\n()'{}[]:\x00\x01\x7f\x80\xff";
    return draw(3) ? (unsigned char)odd[draw(sizeof odd - 1)] : (unsigned char)draw(256);
}

// Overwrites, flips, removes, repeats or cuts.
static void edit(test_file *f) {
    size_t at = f->size ? draw(f->size) : 0, n = f->size - at < 16 ? f->size - at : 16;
    n = n ? 1 + draw(n) : 0;
    unsigned char piece[16];
    switch (draw(6)) {
    case 0:
    case 1:
        if (f->size) f->bytes[at] = odd_byte();
        break;
    case 2:
        if (f->size) f->bytes[at] ^= (unsigned char)(1u << draw(8));
        break;
    case 3:
        memmove(f->bytes + at, f->bytes + at + n, f->size - at - n);
        f->size -= n;
        break;
    case 4:
        memcpy(piece, f->bytes + at, n);
        test_append(f, piece, n);
        memmove(f->bytes + at + n, f->bytes + at, f->size - at - n);
        break;
    case 5: f->size = draw(20) ? f->size : at; break;
    }
}

static void judge(gnn_context *c, const char *what, gnn_status s, bool empty, const char *fault) {
    const char *text = gnn_context_error(c);
    if (s) {
        bool typed = s == GNN_BAD_FILE || s == GNN_TOO_LARGE;
        CHECK(typed && strncmp(text, what, strlen(what)) == 0, "%s: status %d, '%s'", what, s,
              text);
        CHECK(empty, "%s: left something behind after '%s'", what, text);
    } else {
        CHECK(!fault, "%s: %s", what, fault ? fault : "");
        CHECK(!*text, "%s: good, but '%s'", what, text);
    }
    gnn_context_clear_error(c);
}

static void read_as_graph(gnn_context *c, const char *name, const test_file *f) {
    gnn_graph g;
    gnn_status s = rt_graph_from_memory(c, name, f->bytes, f->size, &g);
    judge(c, name, s, test_is_empty(&g, sizeof g), s ? NULL : test_graph_fault(&g));
    gnn_graph_free(c, &g);
}

static void read_as_array(gnn_context *c, const char *name, const test_file *f) {
    gnn_array a;
    gnn_status s = rt_npy_from_memory(c, name, f->bytes, f->size, &a);
    judge(c, name, s, test_is_empty(&a, sizeof a), s || a.data ? NULL : "no data");
    gnn_array_free(c, &a);
}

static const struct {
    const char *name;
    void (*read)(gnn_context *, const char *, const test_file *);
} readers[] = {{"s.npz", read_as_graph},  {"d.npz", read_as_graph}, {"m.mtx", read_as_graph},
               {"m2.mtx", read_as_graph}, {"e.txt", read_as_graph}, {"w.txt", read_as_graph},
               {"a.npy", read_as_array},  {"f.npy", read_as_array}};

static test_file original(size_t i) {
    static const float values[] = {1, 2, 3, 4, 5, 6};
    switch (i) {
    case 0: return test_graph_npz(ZIP_CM_STORE);
    case 1: return test_graph_npz(ZIP_CM_DEFLATE);
    case 2:
        return test_text(
            "%%MatrixMarket matrix coordinate real symmetric\n% c\n4 4 4\n1 1 1.5\n2 1 -2e3\n3 2 0.25\n4 4 1\n");
    case 3:
        return test_text(
            "%%MatrixMarket matrix coordinate pattern general\r\n3 5 3\r\n1 5\r\n3 1\r\n2 2\r\n");
    case 4: return test_text("# a comment\r\n0\t1\r\n2\t3\r\n\r\n4,5\n7 2\n");
    case 5:
        return test_text(
            "% c\n0 1 0.5\n12 3 -1.25e-3\n4 5 123456789012345678901234567890\n7 2 1e300\n");
    case 6: return test_npy("<i2", "(3, 4)", values, 24);
    case 7:
        return test_npy_header("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", values,
                               24);
    }
    abort();
}

int main(int argc, char **argv) {
    long rounds = argc > 1 ? atol(argv[1]) : ROUNDS;
    state = argc > 2 ? strtoull(argv[2], NULL, 10) | 1 : 1;
    gnn_context *c = test_context(NULL);
    for (size_t i = 0; i < RT_COUNT(readers); i++) {
        test_file from = original(i);
        readers[i].read(c, readers[i].name, &from);
        CHECK(!test_failures, "%s: the original is not read", readers[i].name);
        for (long round = 0; round < rounds / (long)RT_COUNT(readers) && test_failures < 10;
             round++) {
            test_file f = test_bytes(from.bytes, from.size);
            for (uint64_t edits = 1 + draw(MOST_EDITS); edits-- > 0;) edit(&f);
            test_file exact = {malloc(f.size ? f.size : 1), f.size};   // no byte beyond the end
            memcpy(exact.bytes, f.bytes, f.size);
            readers[i].read(c, readers[i].name, &exact);
            free(exact.bytes);
            free(f.bytes);
        }
        free(from.bytes);
    }
    gnn_context_free(c);
    return test_failures != 0;
}
