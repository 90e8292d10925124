// What a graph file is by its first bytes, then by its extension; what else it may be, and how that
// is converted.
#include "files.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { HEAD = 256 };

static bool has_extension(const char *path, const char *extension) {
    size_t n = strlen(path), m = strlen(extension);
    return n >= m && !strcasecmp(path + n - m, extension);
}

static gnn_status refuse(const rt_source *s, const char *why) {
    return rt_fail(s->c, GNN_BAD_FILE, "%s: %s", s->name, why);
}

// ---- Bytes --------------------------------------------------------------------------------------
typedef struct {
    const char *begins;
    size_t n;
    const char *why;
} binary;

static const binary binaries[] = {
    {"\x93NUMPY", 6,
     "is a single array; a graph is a .npz with rowptr and col, a .mtx or an edge list"},
    {"\x1f\x8b", 2, "is compressed by gzip; decompress it first"},
    {"BZh", 3, "is compressed by bzip2; decompress it first"},
    {"\xfd\x37zXZ", 5, "is compressed by xz; decompress it first"},
    {"\x28\xb5\x2f\xfd", 4, "is compressed by zstd; decompress it first"},
    {"\x89HDF", 4,
     "is HDF5; numpy.savez('g.npz', rowptr=…, col=…) makes a graph of two of its arrays"},
    {"PAR1", 4,
     "is Parquet; pandas.read_parquet(…).to_csv('g.txt', sep=' ', header=False, index=False) makes an edge list of two columns"},
    {"\x7f"
     "ELF",
     4, "is a program or an object, no graph"},
    {"\xff\xfe", 2, "is UTF-16; iconv -f UTF-16 -t UTF-8 converts it"},
    {"\xfe\xff", 2, "is UTF-16; iconv -f UTF-16 -t UTF-8 converts it"},
};

// Of two bytes a character, one is zero.
static bool is_wide(const char *head, size_t n) {
    size_t zeros = 0;
    for (size_t i = 0; i < n; i++) zeros += !head[i];
    return zeros > n / 4;
}

static gnn_status check_bytes(const rt_source *s, const char *head, size_t n) {
    for (size_t i = 0; i < RT_COUNT(binaries); i++)
        if (n >= binaries[i].n && !memcmp(head, binaries[i].begins, binaries[i].n))
            return refuse(s, binaries[i].why);
    return is_wide(head, n)
               ? refuse(
                     s,
                     "holds zero bytes, so it is no text; UTF-16 is converted by iconv -f UTF-16LE -t UTF-8")
               : GNN_OK;
}

// ---- Text ---------------------------------------------------------------------------------------
#define READS "a graph is a .npz, .mtx, METIS .graph or an edge list of numbers"
#define NETWORKX(read)                                                                             \
    READS "; scipy.io.mmwrite('g.mtx', networkx.to_scipy_sparse_array(networkx." read              \
          ").T) converts it"

static const struct {
    const char *begins, *what;
} texts[] = {
    {"<graphml", "is GraphML; " NETWORKX("read_graphml(FILE)")},
    {"<gexf", "is GEXF; " NETWORKX("read_gexf(FILE)")},
    {"<?xml", "is XML, GraphML or GEXF perhaps; " NETWORKX("read_graphml(FILE)")},
    {"graph [", "is GML; " NETWORKX("read_gml(FILE)")},
    {"graph[", "is GML; " NETWORKX("read_gml(FILE)")},
    {"graph\n", "is GML; " NETWORKX("read_gml(FILE)")},
    {"creator ", "is GML; " NETWORKX("read_gml(FILE)")},
    {"*vertices", "is Pajek's; " NETWORKX("read_pajek(FILE)")},
    {"*network", "is Pajek's; " NETWORKX("read_pajek(FILE)")},
    {"graph ", "is DOT; " NETWORKX("nx_pydot.read_dot(FILE)")},
    {"digraph ", "is DOT; " NETWORKX("nx_pydot.read_dot(FILE)")},
    {"strict ", "is DOT; " NETWORKX("nx_pydot.read_dot(FILE)")},
    {"dl ", "is UCINET's; " READS},
    {"{", "is JSON; " NETWORKX("node_link_graph(json.load(open(FILE)))")},
};

// The first line that is blank in no format: comments before it may be anybody's.
static gnn_status check_text(const rt_source *s, const char *head, size_t n) {
    const char *p = head, *end = head + n;
    while (p < end && isspace((unsigned char)*p)) p++;
    for (size_t i = 0; i < RT_COUNT(texts); i++)
        if (rt_find_word(p, end, texts[i].begins)) return refuse(s, texts[i].what);
    return GNN_OK;
}

// ---- The whole ----------------------------------------------------------------------------------
// How a format is told: by how it begins, of any case, or by the name. Where neither says, it is an
// edge list.
typedef struct {
    gnn_graph_format format;
    const char *extensions[4], *begins[4];   // ended by NULL
    const char *must;   // how a file of that name that begins otherwise is refused; NULL: it is not
} graph_form;
static const graph_form forms[] = {
    {GNN_GRAPH_NPZ, {".npz"}, {"PK\3\4", "PK\5\6"}, "does not begin as a .npz archive does"},
    {GNN_GRAPH_MTX,
     {".mtx"},
     {"%%MatrixMarket", "%MatrixMarket"},
     "does not begin with '%%MatrixMarket'"},
    {GNN_GRAPH_METIS, {".graph", ".metis"}, {NULL}, NULL},
    {GNN_GRAPH_DIMACS, {NULL}, {"p ", "c ", "c\n"}, NULL},
};

static const graph_form *begun_by(const char *head, size_t n) {
    for (size_t i = 0; i < RT_COUNT(forms); i++)
        for (const char *const *b = forms[i].begins; *b; b++)
            if (rt_find_word(head, head + n, *b)) return &forms[i];
    return NULL;
}

static const graph_form *named(const char *name) {
    for (size_t i = 0; i < RT_COUNT(forms); i++)
        for (const char *const *e = forms[i].extensions; *e; e++)
            if (has_extension(name, *e)) return &forms[i];
    return NULL;
}

static gnn_status by_content(rt_source *s, const char *head, size_t n, gnn_graph_format *form) {
    const graph_form *f = begun_by(head, n);
    *form = f ? f->format : GNN_GRAPH_AUTO;
    return *form == GNN_GRAPH_NPZ ? GNN_OK : check_bytes(s, head, n);
}

static gnn_status by_name(const rt_source *s, const char *head, size_t n, gnn_graph_format *form) {
    const graph_form *f = named(s->name);
    if (f && f->must) return refuse(s, f->must);
    *form = f ? f->format : GNN_GRAPH_AUTO;
    return check_text(s, head, n);
}

gnn_status rt_find_form(rt_source *s, gnn_graph_format *form) {
    char bytes[HEAD], *head = bytes;
    size_t n;
    gnn_status status = rt_source_read(s, head, HEAD, &n);
    bool mark = n >= 3 && !memcmp(head, "\xef\xbb\xbf", 3);
    s->begin = mark ? 3 : 0;
    head += s->begin;
    n -= s->begin;
    rt_source_rewind(s);
    if (status) return status;
    gnn_graph_format asked = s->o ? s->o->format : GNN_GRAPH_AUTO;
    status = by_content(s, head, n, form);
    if (!status && asked == GNN_GRAPH_AUTO && *form == GNN_GRAPH_AUTO)
        return by_name(s, head, n, form);
    if (!status && asked == GNN_GRAPH_NPZ && *form != GNN_GRAPH_NPZ)
        return refuse(s, "does not begin as a .npz archive does");
    if (!status && *form == GNN_GRAPH_NPZ && asked != GNN_GRAPH_AUTO && asked != GNN_GRAPH_NPZ)
        return refuse(s, "is an archive, no text");
    if (asked != GNN_GRAPH_AUTO) *form = asked;
    return status;
}
