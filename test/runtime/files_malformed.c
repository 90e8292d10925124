// Every kind of malformed file is refused with BAD_FILE or TOO_LARGE and a text that tells the
// place and the value, and leaves nothing behind.
#include "files_support.h"

typedef struct {
    const char *text, *error;
} text_case;

static void expect_refused(gnn_context *c, const char *what, gnn_status s, bool empty,
                           const char *error) {
    const char *got = gnn_context_error(c);
    CHECK(s == GNN_BAD_FILE || s == GNN_TOO_LARGE, "%s: status %d", what, s);
    CHECK(strstr(got, error) != NULL, "%s: expected '%s', got '%s'", what, error, got);
    CHECK(empty, "%s: left something behind", what);
    gnn_context_clear_error(c);
}

static void refuse_graph(gnn_context *c, const char *name, test_file f, const char *error) {
    gnn_graph g;
    gnn_status s = rt_graph_from_memory(c, name, f.bytes, f.size, &g);
    expect_refused(c, error, s, test_is_empty(&g, sizeof g), error);
    gnn_graph_free(c, &g);
    free(f.bytes);
}

static void refuse_array(gnn_context *c, test_file f, const char *error) {
    gnn_array a;
    gnn_status s = rt_npy_from_memory(c, "a.npy", f.bytes, f.size, &a);
    expect_refused(c, error, s, test_is_empty(&a, sizeof a), error);
    gnn_array_free(c, &a);
    free(f.bytes);
}

// ---- Text ---------------------------------------------------------------------------------------
static const text_case edge_lists[] = {
    {"0 1\nx 2\n", "e.txt:2: expected two integers, got 'x'"},
    {"0 1\n2\n", "e.txt:2: expected two integers, got the end of the line"},
    {"0 -1\n", "e.txt:1: expected two integers, got '-1'"},
    {"0 1.5\n", "e.txt:1: expected two integers, got '1.5'"},
    {"0 +1\n", "e.txt:1: expected two integers, got '+1'"},
    {"# c\n\n0x1 2\n", "e.txt:3: expected two integers, got '0x1'"},
    {"0 99999999999999999999\n", "e.txt:1: expected two integers, got '99999999999999999999'"},
    {"0 9223372036854775807\n",
     "e.txt:1: id 9223372036854775807 is too large for a file of 22 bytes"},
    {"0 100000000\n", "renumber the nodes"},
    {"0,,1\n", "e.txt:1: expected two integers, got ',1'"},
    {"0 1\n1 2 3\n", "e.txt:2: expected 2 columns as on line 1, got 3"},
    {"0 1 .5\n1 2\n", "e.txt:2: expected 3 columns as on line 1, got 2"},
    {"0 1 1e999\n", "e.txt:1: expected a number as weight, got '1e999'"},
    {"0 1 nano\n", "e.txt:1: expected a number as weight, got 'nano'"},
    {"0 1 1e\n", "e.txt:1: expected a number as weight, got '1e'"},
    {"0 1 .\n", "e.txt:1: expected a number as weight, got '.'"},
    {"0,1,\n", "e.txt:1: expected a number as weight, got the end of the line"},
    {"0 1 2 3\n", "e.txt:1: expected at most three columns, got '3'"},
    {"source,target\n0,1\n", "e.txt:1: expected two integers, got 'source'"},
    {"0 1\r2 3\r", "e.txt:1: a carriage return stands within the line"},
    {"\x93NUMPY\x01", "e.txt: is a single array"},
    {"\x1f\x8b\x08 x", "e.txt: is compressed by gzip"},
};

#define BANNER "%%MatrixMarket matrix coordinate "
static const text_case metis[] = {
    {"", "g.graph:1: the file ends before its sizes"},
    {"2\n", "g.graph:1: expected 'nodes edges [format [weights]]'"},
    {"2 1 2\n2\n1\n", "g.graph:1: the third number is one of"},
    {"2 x\n2\n1\n", "g.graph:1: expected "},
    {"2 1\n2x\n1\n", "g.graph:2: expected the number of a node, got '2x'"},
    {"2 1 10\n\n1\n", "g.graph:2: expected a size or weight of the node, got the end of the line"},
    {"2 1 1\n2\n1 1\n", "g.graph:2: expected the weight of an edge, got the end of the line"},
    {"2 1\n3\n1\n", "g.graph:2: neighbour 3 is outside 1 to 2"},
    {"1 0\n\n1\n", "g.graph:3: there are more lines than the 1 nodes"},
    {"2 2\n2\n1\n", "g.graph: it has 2 neighbours, and 2 edges promise 4"},
    {"1 9223372036854775807\n",
     "g.graph:1: 9223372036854775807 edges and 0 weights a node are too many for a file of"},
    {"2 1 110 9223372036854775807\n2\n1\n",
     "g.graph:1: 1 edges and 9223372036854775807 weights a node are too many"},
};

static const text_case matrices[] = {
    {"", "m.mtx: does not begin with '%%MatrixMarket'"},
    {"1 1 0\n", "m.mtx: does not begin with '%%MatrixMarket'"},
    {"%%MatrixMarket matrix\n", "m.mtx:1: the format must be 'coordinate', got nothing"},
    {"%%MatrixMarketmatrix coordinate real general\n",
     "m.mtx:1: expected '%%MatrixMarket matrix coordinate"},
    {"%%MatrixMarket vector coordinate real general\n",
     "m.mtx:1: expected '%%MatrixMarket matrix coordinate"},
    {"%%MatrixMarket matrix array real general\n",
     "m.mtx:1: the format must be 'coordinate', got 'array'"},
    {BANNER "complex general\n",
     "m.mtx:1: the field must be real, integer or pattern, got 'complex'"},
    {BANNER "real even\n",
     "m.mtx:1: the symmetry must be general, symmetric, skew-symmetric or hermitian, got 'even'"},
    {BANNER "real general more\n", "m.mtx:1: expected '%%MatrixMarket"},
    {BANNER "real general\n", "m.mtx:2: the file ends before its sizes"},
    {BANNER "real general\n3 3\n",
     "m.mtx:2: expected three sizes: rows, columns, entries, got the end of the line"},
    {BANNER "real general\n3 nan 1\n",
     "m.mtx:2: expected three sizes: rows, columns, entries, got 'nan'"},
    {BANNER "real general\n3 3 1 7\n",
     "m.mtx:2: expected three sizes: rows, columns, entries, got '7'"},
    {BANNER "real general\n3 3 -1\n",
     "m.mtx:2: expected three sizes: rows, columns, entries, got '-1'"},
    {BANNER "real symmetric\n3 4 0\n", "m.mtx:2: a symmetric matrix must be square, got 3 x 4"},
    {BANNER "real general\n9999999999 1 0\n",
     "m.mtx:2: 9999999999 rows are too many for a file of"},
    {BANNER "real general\n3 3 99999999\n1 1 1\n",
     "m.mtx:2: 99999999 entries do not fit a file of"},
    {BANNER "real general\n3 3 2\n1 1 1\n", "m.mtx:4: the file ends after 1 of 2 entries"},
    {BANNER "real general\n3 3 1\n1 1 1\n2 2 1\n",
     "m.mtx:4: there are more than the 1 entries promised"},
    {BANNER "real general\n%\n\n3 3 1\n4 1 1\n", "m.mtx:5: row 4 is outside 1 to 3"},
    {BANNER "real general\n3 3 1\n0 1 1\n", "m.mtx:3: row 0 is outside 1 to 3"},
    {BANNER "real general\n3 2 1\n3 3 1\n", "m.mtx:3: column 3 is outside 1 to 2"},
    {BANNER "real general\n3 3 1\n1 1\n1\n", "m.mtx:3: expected a number, got the end of the line"},
    {BANNER "real general\n3 3 1\n1 1 x\n", "m.mtx:3: expected a number, got 'x'"},
    {BANNER "real general\n3 3 1\n1 1 1e400\n", "m.mtx:3: expected a number, got '1e400'"},
    {BANNER "real general\n3 3 1\n1 1 1 1\n", "m.mtx:3: expected the end of the line, got '1'"},
    {BANNER "real general\n3 3 1\n1 a 1\n", "m.mtx:3: expected two integers, got 'a'"},
    {BANNER "real general\n3 3 1\n% late\n1 1 1\n", "m.mtx:3: expected two integers, got '%'"},
    {BANNER "integer general\n3 3 1\n1 1 1.5\n",
     "m.mtx:3: expected an integer within 2^53, got '1.5'"},
    {BANNER "integer general\n3 3 1\n1 1 9007199254740993\n",
     "m.mtx:3: expected an integer within 2^53"},
    {BANNER "pattern general\n3 3 1\n1 1 1\n", "m.mtx:3: expected the end of the line, got '1'"},
};

static void long_line(gnn_context *c) {
    size_t n = RT_LINE_BUFFER + 10;
    test_file f = {malloc(n), n};
    memset(f.bytes, '7', n);
    refuse_graph(c, "e.txt", f, "e.txt:1: the line is longer than 262144 bytes");
}

// ---- Arrays -------------------------------------------------------------------------------------
#define D(type, order, shape)                                                                      \
    "{'descr': " type ", 'fortran_order': " order ", 'shape': " shape ", }"
static const struct {
    const char *header;
    size_t data;
    const char *error;
} headers[] = {
    {"", 0, "its header has at byte 1 its end where { is expected"},
    {"{}", 0, "a.npy: its header lacks 'descr'"},
    {"{'descr': '<f4', 'shape': (1,)}", 4, "its header lacks 'fortran_order'"},
    {"{'descr': '<f4', 'fortran_order': False}", 4, "its header lacks 'shape'"},
    {D("'>f4'", "False", "(1,)"), 4,
     "its type '>f4' is big-endian; only little-endian arrays are read"},
    {D("'<c8'", "False", "(1,)"), 8, "its type is '<c8'; floats f8 f4 f2"},
    {D("'|O'", "False", "(1,)"), 8, "its type is '|O'"},
    {D("'<U4'", "False", "(1,)"), 16, "its type is '<U4'"},
    {D("'|f4'", "False", "(1,)"), 4, "its type is '|f4'"},
    {D("''", "False", "(1,)"), 4, "its type is empty"},
    {D("[('a', '<f4')]", "False", "(1,)"), 4,
     "its header has at byte 10 '[('a'' where a simple type is expected"},
    {D("'<f4'", "Maybe", "(1,)"), 4, "where True or False is expected"},
    {D("'<f4'", "False", "(nan,)"), 4, "'nan' where a size is expected"},
    {D("'<f4'", "False", "(-1,)"), 4, "'-1' where a size is expected"},
    {D("'<f4'", "False", "(99999999999999999999,)"), 4, "where a size is expected"},
    {D("'<f4'", "False", "(4611686018427387904, 4)"), 4,
     "axis 0 of 4611686018427387904 makes it too large"},
    {D("'<f4'", "False", "(0, 4611686018427387904)"), 0,
     "axis 1 of 4611686018427387904 makes it too large"},
    {D("'<f4'", "False", "(1)"), 4, "where , is expected"},
    {D("'<f4'", "False", "1"), 4, "where ( is expected"},
    {D("'<f4'", "False", "((1,),)"), 4, "where a size is expected"},
    {D("'<f4'", "False", "(1,1,1,1,1,1,1,1,1)"), 4, "it has more than 8 axes"},
    {D("'<f4'", "False", "(1,"), 4, "where a size is expected"},
    {D("'<f4'", "False", "(2,)"), 4, "its shape wants 8 bytes of data, but 4 follow its header"},
    {D("'<f4'", "False", "(1,)"), 5, "its shape wants 4 bytes of data, but 5 follow its header"},
    {D("'<f4'", "False", "()"), 0, "its shape wants 4 bytes of data, but 0 follow its header"},
    {D("'<f4'", "False", "(1,)") "x", 4, "where its end is expected"},
    {"{'descr': '<f4', 'descr': '<f4'}", 4, "its header says 'descr' twice"},
    {"{'descr': '<f4', 'more': 1}", 4, "where 'descr', 'fortran_order' or 'shape' is expected"},
    {"{'descr' '<f4'}", 4, "where : is expected"},
    {"{'descr': '<f4' 'shape': ()}", 4, "where } is expected"},
    {"{{'descr': '<f4'}}", 4, "where a key is expected"},
    {"['descr']", 4, "where { is expected"},
};

static void bad_arrays(gnn_context *c) {
    unsigned char data[16] = {2, 255, 255, 255, 255, 255, 255, 255};
    for (size_t i = 0; i < RT_COUNT(headers); i++)
        refuse_array(c, test_npy_header(headers[i].header, data, headers[i].data),
                     headers[i].error);
    refuse_array(c, test_npy("|b1", "(2,)", data, 2), "element 0 = 2 is not a bool");
    refuse_array(c, test_npy("<u8", "(1,)", data, 8),
                 "element 0 = 18446744073709551362 does not fit i64");
    refuse_array(c, test_text(""), "a.npy: it does not begin as a .npy array does");
    refuse_array(c, test_text("\x93NUMPX\x01"), "a.npy: it does not begin as a .npy array does");
    refuse_array(c, test_bytes("\x93NUMPY\x01\x00\x10", 9),
                 "the file ends within the length of a header, at byte 9");
    refuse_array(c, test_bytes("\x93NUMPY\x04\x00\x00\x00", 10), "it has the .npy version 4.0");
    refuse_array(c, test_bytes("\x93NUMPY\x01\x00\xff\xff", 10),
                 "its header would be 65535 bytes long");
    refuse_array(c, test_bytes("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12),
                 "its header would be 4294967295 bytes long");
}

// ---- Graphs -------------------------------------------------------------------------------------
enum { MOST_ARRAYS = 8, MOST_VALUES = 8 };
typedef struct {
    struct {
        const char *name;
        int32_t n, values[MOST_VALUES];
    } arrays[MOST_ARRAYS];
    const char *error;
} graph_case;
#define ROWS                                                                                       \
    {"rowptr", 3, {0, 1, 2}}, { "col", 2, {1, 0} }
static const graph_case graphs[] = {
    {{{"col", 2, {1, 0}}, {"x", 1, {0}}}, "g.npz: has no array 'rowptr'; it has: col, x"},
    {{{"rowptr", 1, {0}}}, "g.npz: has no array 'col'; it has: rowptr"},
    {{{"rowptr", 0, {0}}, {"col", 0, {0}}}, "g.npz: rowptr is empty, must begin with 0"},
    {{{"rowptr", 3, {1, 1, 2}}, {"col", 2, {1, 0}}}, "g.npz: rowptr[0] = 1, must be 0"},
    {{{"rowptr", 4, {0, 2, 1, 2}}, {"col", 2, {1, 0}}}, "g.npz: rowptr[2] = 1 after 2"},
    {{{"rowptr", 3, {0, 1, 3}}, {"col", 2, {1, 0}}},
     "g.npz: rowptr[2] = 3, but there are 2 entries in col"},
    {{{"rowptr", 3, {0, -1, 2}}, {"col", 2, {1, 0}}}, "g.npz: rowptr[1] = -1 after 0"},
    {{{"rowptr", 3, {0, 1, 2}}, {"col", 2, {1, 99}}}, "g.npz: col[1] = 99 is outside U (2)"},
    {{{"rowptr", 3, {0, 1, 2}}, {"col", 2, {-1, 0}}}, "g.npz: col[0] = -1 is outside U (2)"},
    {{ROWS, {"num_src", 1, {1}}}, "g.npz: col[0] = 1 is outside U (1)"},
    {{ROWS, {"num_src", 1, {-1}}}, "g.npz: num_src must be one number, not negative"},
    {{ROWS, {"rowptr", 3, {0, 1, 2}}}, "g.npz: has 'rowptr' twice"},
    {{ROWS, {"etype", 1, {0}}}, "g.npz: etype has 1 entries, must have 2"},
    {{ROWS, {"etype", 2, {0, -1}}}, "g.npz: etype[1] = -1 is not a type"},
    {{ROWS, {"ntype", 2, {-7, 0}}}, "g.npz: ntype[0] = -7 is not a type"},
    {{ROWS, {"graph_ptr", 2, {0, 3}}}, "g.npz: graph_ptr[1] = 3, but there are 2 nodes"},
    {{ROWS, {"graph_ptr", 0, {0}}}, "g.npz: graph_ptr is empty, must begin with 0"},
    {{ROWS, {"batch", 2, {1, 0}}}, "g.npz: batch[1] = 0 after 1"},
    {{ROWS, {"batch", 2, {-1, 0}}}, "g.npz: batch[0] = -1 after 0"},
    {{ROWS, {"batch", 2, {0, 2147483647}}}, "g.npz: batch[1] = 2147483647, more than"},
    {{ROWS, {"graph_ptr", 2, {0, 2}}, {"batch", 2, {0, 1}}},
     "batch[1] = 1, but graph_ptr puts it into graph 0"},
    {{ROWS, {"y", 3, {0, 1, 2}}}, "g.npz: y has 3 entries, must have 2"},
    {{ROWS, {"weight", 1, {0}}}, "g.npz: weight has 1 entries, must have 2"},
    {{ROWS, {"train_idx", 1, {2}}}, "g.npz: train_idx[0] = 2 is outside V (2)"},
    {{ROWS, {"x", 3, {0}}}, "g.npz: x must have 2 rows, one a node"},
    {{ROWS, {"x", 2, {0}}, {"x_indptr", 3, {0}}}, "g.npz: has both x and x_indptr"},
    {{ROWS, {"x_indptr", 3, {0}}}, "g.npz: has no array 'x_indices'"},
    {{ROWS,
      {"x_indptr", 3, {0}},
      {"x_indices", 2, {0, 1}},
      {"x_data", 2, {0}},
      {"x_dim", 2, {4, 4}}},
     "g.npz: x_dim must be one number, not negative"},
    {{ROWS, {"x_indptr", 3, {0}}, {"x_indices", 0, {0}}, {"x_data", 0, {0}}, {"x_dim", 1, {4}}},
     "g.npz: x_data must be of type f4"},
};

static test_file graph_archive(const graph_case *g, int method) {
    test_member members[MOST_ARRAYS];
    static char names[MOST_ARRAYS][32];
    size_t n = 0;
    bool twice = false;
    for (; n < MOST_ARRAYS && g->arrays[n].name; n++) {
        twice |= n == 2 && !strcmp(g->arrays[n].name, "rowptr");
        snprintf(names[n], sizeof names[n], "%s.npy", twice ? "rowptX" : g->arrays[n].name);
        members[n] = (test_member){names[n],
                                   test_npy_i4(g->arrays[n].values, (size_t)g->arrays[n].n)};
    }
    test_file f = test_npz(method, members, n);
    // libzip refuses to write a name twice, so it is renamed in the bytes.
    for (size_t i = 0; i + 10 < f.size && twice; i++)
        if (!memcmp(f.bytes + i, "rowptX.npy", 10)) f.bytes[i + 5] = 'r';
    return f;
}

static test_file sparse_archive_of_rows(const int32_t *indptr, size_t rows, const int32_t *indices,
                                        size_t n, int32_t dim) {
    static const int32_t rowptr[] = {0, 1, 2}, col[] = {1, 0};
    static const float data[4] = {1, 2, 3, 4};
    char shape[32];
    snprintf(shape, sizeof shape, "(%zu,)", n);
    const test_member members[] = {
        {"rowptr.npy", test_npy_i4(rowptr, 3)},
        {"col.npy", test_npy_i4(col, 2)},
        {"x_indptr.npy", test_npy_i4(indptr, rows + 1)},
        {"x_indices.npy", test_npy_i4(indices, 2)},
        {"x_data.npy", test_npy("<f4", shape, data, n * 4)},
        {"x_dim.npy", test_npy_i4(&dim, 1)},
    };
    return test_npz(ZIP_CM_STORE, members, RT_COUNT(members));
}

static test_file sparse_archive(const int32_t *indptr, const int32_t *indices, size_t n,
                                int32_t dim) {
    return sparse_archive_of_rows(indptr, 2, indices, n, dim);
}

static void bad_features(gnn_context *c) {
    const int32_t both[] = {0, 2, 2}, two[] = {1, 1}, far[] = {0, 9}, falls[] = {0, 2, 1},
                  good[] = {0, 1};
    refuse_graph(c, "g.npz", sparse_archive(both, two, 2, 3),
                 "g.npz: x_indices[1] = 1 after 1 in row 0");
    refuse_graph(c, "g.npz", sparse_archive(both, far, 2, 3),
                 "g.npz: x_indices[1] = 9 is outside x_dim (3)");
    refuse_graph(c, "g.npz", sparse_archive_of_rows(both, 1, good, 2, 3),
                 "g.npz: x_indptr has 2 entries, must have 3");
    refuse_graph(c, "g.npz", sparse_archive(falls, good, 2, 3), "g.npz: x_indptr[2] = 1 after 2");
    refuse_graph(c, "g.npz", sparse_archive(both, good, 3, 3),
                 "g.npz: x_data has 3 entries, but x_indices has 2");
    refuse_graph(c, "g.npz", sparse_archive(both, good, 2, -1),
                 "g.npz: x_dim must be one number, not negative");
    refuse_graph(c, "g.npz", sparse_archive(both, good, 2, 2147483647),
                 "g.npz: x would be 2 x 2147483647, too large for its 2 entries");
}

// ---- Archives -----------------------------------------------------------------------------------
static void bad_types(gnn_context *c) {
    const float rows[] = {0, 1, 2};
    const int32_t col[] = {1, 0};
    test_member floats[] = {{"rowptr.npy", test_npy("<f4", "(3,)", rows, 12)},
                            {"col.npy", test_npy_i4(col, 2)}};
    refuse_graph(c, "g.npz", test_npz(ZIP_CM_STORE, floats, 2),
                 "g.npz: rowptr: it has the type f4, but must hold integers");
    test_member flat[] = {{"rowptr.npy", test_npy("<i4", "(1, 3)", rows, 12)},
                          {"col.npy", test_npy_i4(col, 2)}};
    refuse_graph(c, "g.npz", test_npz(ZIP_CM_STORE, flat, 2),
                 "g.npz: rowptr has 2 axes, must have 1");
    test_member scalar[] = {{"rowptr.npy", test_npy("<i4", "()", rows, 4)},
                            {"col.npy", test_npy_i4(col, 2)}};
    refuse_graph(c, "g.npz", test_npz(ZIP_CM_STORE, scalar, 2),
                 "g.npz: rowptr is a scalar, must have an axis");
    test_member junk[] = {{"rowptr.npy", test_text("PK\3\4 nested junk")}};
    refuse_graph(c, "g.npz", test_npz(ZIP_CM_STORE, junk, 1),
                 "g.npz: rowptr: it does not begin as a .npy array does");
}

// Changes the sizes in the central directory, which libzip believes.
static test_file claim(int method, size_t field, uint32_t value) {
    test_file f = test_graph_npz(method);
    for (size_t i = 0; i + 46 < f.size; i++)
        if (!memcmp(f.bytes + i, "PK\1\2", 4)) {
            memcpy(f.bytes + i + field, &value, 4);
            return f;
        }
    return f;
}

static void bad_archives(gnn_context *c) {
    enum { METHOD = 10, COMPRESSED = 20, SIZE = 24 };
    refuse_graph(c, "g.npz", claim(ZIP_CM_DEFLATE, SIZE, 0x7fffffff),
                 "g.npz: rowptr.npy cannot be 2147483647 bytes");
    refuse_graph(c, "g.npz", claim(ZIP_CM_STORE, SIZE, 0x7fffffff),
                 "g.npz: rowptr.npy cannot be 2147483647 bytes");
    refuse_graph(c, "g.npz", claim(ZIP_CM_STORE, COMPRESSED, 0x7fffffff),
                 "g.npz: rowptr.npy cannot be");
    refuse_graph(c, "g.npz", claim(ZIP_CM_DEFLATE, METHOD, 0x0000000c),
                 "is compressed by method 12");
    refuse_graph(c, "g.npz", claim(ZIP_CM_DEFLATE, SIZE, 9999),
                 "g.npz: rowptr: its shape wants 24 bytes of data, but");
    test_file crc = test_graph_npz(ZIP_CM_STORE);
    for (size_t i = 0; i + 32 < crc.size;
         i++)   // the last value of rowptr, 6, made 5: only the checksum can tell
        if (!memcmp(crc.bytes + i, "PK\3\4", 4) && i > 0) {
            crc.bytes[i - 3] ^= 1;
            break;
        }
    refuse_graph(c, "g.npz", crc, "g.npz: rowptr: the archive is damaged");
    test_file whole = test_graph_npz(ZIP_CM_DEFLATE);
    for (size_t n = 4; n < whole.size; n += 7)
        refuse_graph(c, "g.npz", test_bytes(whole.bytes, n),
                     "g.npz: cannot be read as a .npz archive");
    free(whole.bytes);
    refuse_graph(c, "g.npz", test_text("not a zip"),
                 "g.npz: does not begin as a .npz archive does");
}

int main(void) {
    gnn_context *c = test_context(NULL);
    for (size_t i = 0; i < RT_COUNT(edge_lists); i++)
        refuse_graph(c, "e.txt", test_text(edge_lists[i].text), edge_lists[i].error);
    for (size_t i = 0; i < RT_COUNT(metis); i++)
        refuse_graph(c, "g.graph", test_text(metis[i].text), metis[i].error);
    for (size_t i = 0; i < RT_COUNT(matrices); i++)
        refuse_graph(c, "m.mtx", test_text(matrices[i].text), matrices[i].error);
    for (size_t i = 0; i < RT_COUNT(graphs); i++) {
        refuse_graph(c, "g.npz", graph_archive(&graphs[i], ZIP_CM_STORE), graphs[i].error);
        refuse_graph(c, "g.npz", graph_archive(&graphs[i], ZIP_CM_DEFLATE), graphs[i].error);
    }
    long_line(c);
    bad_arrays(c);
    bad_features(c);
    bad_types(c);
    bad_archives(c);
    gnn_context_free(c);
    return test_failures != 0;
}
