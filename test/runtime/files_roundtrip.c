// Arrays written and read again are the same; arrays as numpy would write them, in other types and
// orders, are read as documented; members of archives too.
#include "files_support.h"

#include <unistd.h>

static const char path[] = "files_roundtrip.npy";

static bool same(const gnn_array *a, const gnn_array *b) {
    return a->dtype == b->dtype && a->rank == b->rank &&
           !memcmp(a->shape, b->shape, sizeof a->shape) &&
           !memcmp(a->data, b->data, (size_t)gnn_array_count(a) * gnn_dtype_bytes(a->dtype));
}

static void round_trip(gnn_context *c, gnn_dtype type, uint32_t rank, const int64_t *shape) {
    gnn_array a, b = {0};
    CHECK(!gnn_array_new(c, type, rank, shape, &a), "%s", gnn_context_error(c));
    unsigned char *bytes = a.data;
    for (size_t i = 0; i < (size_t)gnn_array_count(&a) * gnn_dtype_bytes(type); i++)
        bytes[i] = (unsigned char)(type == GNN_BOOL ? i & 1 : i * 37 + 11);
    CHECK(!gnn_array_write_npy(c, path, &a) && !gnn_array_read_npy(c, path, &b), "%s",
          gnn_context_error(c));
    CHECK(b.data && same(&a, &b), "%s of %u axes came back different", gnn_dtype_text(type), rank);
    gnn_array_free(c, &a);
    gnn_array_free(c, &b);
}

static void all_types_and_shapes(gnn_context *c) {
    static const int64_t shapes[][GNN_MAX_RANK] = {
        {7}, {1}, {0}, {3, 5}, {2, 0, 4}, {2, 1, 1, 2, 1, 2, 1, 2}, {9000, 3}};
    static const uint32_t ranks[] = {1, 1, 1, 2, 3, 8, 2};
    for (int t = 0; t < GNN_DTYPE_COUNT; t++)
        for (size_t i = 0; i < RT_COUNT(ranks) && t != GNN_BF16; i++)
            round_trip(c, (gnn_dtype)t, ranks[i], shapes[i]);
    round_trip(c, GNN_F32, 0, NULL);
}

static void bf16_becomes_f32(gnn_context *c) {
    uint16_t bits[5000];
    for (size_t i = 0; i < 5000; i++) bits[i] = (uint16_t)(i * 13);
    const gnn_array a = {.dtype = GNN_BF16, .rank = 1, .shape = {5000}, .data = bits};
    gnn_array b = {0};
    CHECK(!gnn_array_write_npy(c, path, &a) && !gnn_array_read_npy(c, path, &b), "%s",
          gnn_context_error(c));
    CHECK(b.dtype == GNN_F32 && b.shape[0] == 5000, "bf16 was read as %s", gnn_dtype_text(b.dtype));
    for (size_t i = 0; i < 5000 && b.data; i++)
        CHECK(((uint32_t *)b.data)[i] == (uint32_t)bits[i] << 16, "bf16 element %zu", i);
    gnn_array_free(c, &b);
}

static void read_i64(gnn_context *c, const char *type, gnn_dtype as, const void *data, size_t size,
                     int64_t first) {
    char shape[32];
    snprintf(shape, sizeof shape, "(%zu,)", size / (size_t)(type[2] - '0'));
    test_file f = test_npy(type, shape, data, size);
    gnn_array a;
    CHECK(!rt_npy_from_memory(c, "a.npy", f.bytes, f.size, &a), "%s", gnn_context_error(c));
    CHECK(a.dtype == as, "%s was read as %s", type, gnn_dtype_text(a.dtype));
    int64_t got = as == GNN_I64 ? *(int64_t *)a.data : *(int32_t *)a.data;
    CHECK(got == first, "%s: read %lld, not %lld", type, (long long)got, (long long)first);
    gnn_array_free(c, &a);
    free(f.bytes);
}

static void narrow_integers_widen(gnn_context *c) {
    static const unsigned char bytes[16] = {0xfe, 0xff, 0xff, 0xff, 1, 0, 0, 0x80, 3};
    read_i64(c, "|i1", GNN_I32, bytes, 16, -2);
    read_i64(c, "|u1", GNN_I32, bytes, 16, 254);
    read_i64(c, "<i2", GNN_I32, bytes, 16, -2);
    read_i64(c, "<u2", GNN_I32, bytes, 16, 65534);
    read_i64(c, "<i4", GNN_I32, bytes, 16, -2);
    read_i64(c, "<u4", GNN_I64, bytes, 16, 4294967294);
    read_i64(c, "<i8", GNN_I64, (int64_t[]){INT64_MIN}, 8, INT64_MIN);
    read_i64(c, "<u8", GNN_I64, (uint64_t[]){INT64_MAX}, 8, INT64_MAX);
}

static void fortran_order(gnn_context *c) {
    float stored[2 * 3 * 4];
    for (int i = 0; i < 24; i++) stored[i] = (float)i;
    test_file f = test_npy_header("{'descr':'<f4','fortran_order':True,'shape':(2,3,4)}", stored,
                                  sizeof stored);
    gnn_array a;
    CHECK(!rt_npy_from_memory(c, "a.npy", f.bytes, f.size, &a), "%s", gnn_context_error(c));
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 4; k++)
                CHECK(((float *)a.data)[(i * 3 + j) * 4 + k] == stored[i + 2 * (j + 3 * k)],
                      "at %d %d %d", i, j, k);
    gnn_array_free(c, &a);
    free(f.bytes);
}

static void headers_of_all_versions(gnn_context *c) {
    static const char two[] =
        "\x93NUMPY\x02\x00\x36\x00\x00\x00{ \"shape\":(1,),\n'fortran_order':False, 'descr':'|u1'}  \n\x2a";
    for (int version = 2; version <= 3; version++) {
        test_file f = test_bytes(two, sizeof two - 1);
        f.bytes[6] = (unsigned char)version;
        f.bytes[8] = (unsigned char)(f.size - 13);
        gnn_array a;
        CHECK(!rt_npy_from_memory(c, "a.npy", f.bytes, f.size, &a), "%s", gnn_context_error(c));
        CHECK(a.data && *(int32_t *)a.data == 42, "version %d", version);
        gnn_array_free(c, &a);
        free(f.bytes);
    }
}

static void members_of_archives(gnn_context *c) {
    for (int method = ZIP_CM_STORE; method <= ZIP_CM_DEFLATE;
         method += ZIP_CM_DEFLATE - ZIP_CM_STORE) {
        test_file f = test_graph_npz(method);
        gnn_array y = {0}, again = {0};
        CHECK(!rt_npz_from_memory(c, "g.npz", f.bytes, f.size, "y", &y), "%s",
              gnn_context_error(c));
        CHECK(!rt_npz_from_memory(c, "g.npz", f.bytes, f.size, "y.npy", &again), "%s",
              gnn_context_error(c));
        CHECK(y.dtype == GNN_I32 && y.shape[0] == 5 && ((int32_t *)y.data)[1] == -1 &&
                  same(&y, &again),
              "y of g.npz");
        gnn_array_free(c, &y);
        CHECK(
            rt_npz_from_memory(c, "g.npz", f.bytes, f.size, "z", &y) == GNN_BAD_FILE &&
                strstr(gnn_context_error(c), "g.npz: has no array 'z'; it has: rowptr, col, etype"),
            "%s", gnn_context_error(c));
        gnn_context_clear_error(c);
        gnn_array_free(c, &again);
        free(f.bytes);
    }
}

static void graph_of_an_archive(gnn_context *c) {
    static const float x[] = {1, 0, 0, 0, 0, 2, 0, 0, 0, 3, 4, 0, 0, 0, 5};
    static const int64_t col[] = {1, 2, 0, 3, 4, 4}, etype[] = {0, 1, 0, 1, 1, 0},
                         batch[] = {0, 0, 0, 1, 1};
    test_file f = test_graph_npz(ZIP_CM_DEFLATE);
    gnn_graph g;
    CHECK(!rt_graph_from_memory(c, "dir/some.graph.npz", f.bytes, f.size, &g), "%s",
          gnn_context_error(c));
    CHECK(!strcmp(g.name, "some.graph"), "its name is %s", g.name);
    CHECK(g.nodes == 5 && g.sources == 5 && g.edges == 6 && g.types == 2 && g.node_types == 2 &&
              g.graphs == 2,
          "sizes");
    CHECK(!memcmp(g.col, col, sizeof col) && !memcmp(g.etype, etype, sizeof etype), "col or etype");
    CHECK(!memcmp(g.batch, batch, sizeof batch) && g.graph_ptr[1] == 3, "batch");
    CHECK(g.x.rank == 2 && g.x.shape[1] == 3 && !memcmp(g.x.data, x, sizeof x), "x");
    CHECK(g.y.dtype == GNN_I32 && g.weight.dtype == GNN_F32 && ((float *)g.weight.data)[5] == 6,
          "y or weight");
    CHECK(g.train_idx.dtype == GNN_I64 && ((int64_t *)g.train_idx.data)[1] == 4 && !g.val_idx.data,
          "splits");
    gnn_graph_free(c, &g);
    free(f.bytes);
}

static void batch_alone(gnn_context *c) {
    static const int32_t rowptr[] = {0, 1, 1, 1}, col[] = {3}, batch[] = {0, 2, 2}, sources[] = {4};
    const test_member members[] = {{"rowptr.npy", test_npy_i4(rowptr, 4)},
                                   {"col.npy", test_npy_i4(col, 1)},
                                   {"batch.npy", test_npy_i4(batch, 3)},
                                   {"num_src.npy", test_npy_i4(sources, 1)}};
    static const int64_t offsets[] = {0, 1, 1, 3};
    test_file f = test_npz(ZIP_CM_STORE, members, 4);
    gnn_graph g;
    CHECK(!rt_graph_from_memory(c, "g.npz", f.bytes, f.size, &g), "%s", gnn_context_error(c));
    CHECK(g.graphs == 3 && !memcmp(g.graph_ptr, offsets, sizeof offsets), "graph_ptr of a batch");
    CHECK(g.sources == 4 && g.nodes == 3, "%lld sources", (long long)g.sources);
    gnn_graph_free(c, &g);
    free(f.bytes);
}

static void places_that_cannot_be_written(gnn_context *c) {
    float one = 1;
    const gnn_array a = {.dtype = GNN_F32, .rank = 1, .shape = {1}, .data = &one};
    CHECK(gnn_array_write_npy(c, "no/such/folder.npy", &a) == GNN_IO, "a missing folder");
    CHECK(strstr(gnn_context_error(c), "no/such/folder.npy"), "%s", gnn_context_error(c));
    gnn_context_clear_error(c);
    if (access("/dev/full", W_OK) == 0)
        CHECK(gnn_array_write_npy(c, "/dev/full", &a) == GNN_IO, "a full disk");
    gnn_context_clear_error(c);
    CHECK(!gnn_array_write_npy(c, "/dev/null", &a) && access("/dev/null", W_OK) == 0, "%s",
          gnn_context_error(c));
    gnn_context_clear_error(c);
}

int main(void) {
    gnn_context *c = test_context(NULL);
    all_types_and_shapes(c);
    bf16_becomes_f32(c);
    narrow_integers_widen(c);
    fortran_order(c);
    headers_of_all_versions(c);
    members_of_archives(c);
    graph_of_an_archive(c);
    batch_alone(c);
    places_that_cannot_be_written(c);
    CHECK(!*gnn_context_error(c), "%s", gnn_context_error(c));
    unlink(path);
    gnn_context_free(c);
    return test_failures != 0;
}
