// How many groups of lanes walk a row by default: by its length, in classes that share a launch.
#include "default/ask/limits.h"
#include "default/cells/making.h"
#include "default/walks/walks.h"
#include "default/walks/shares.h"

int64_t default_block_groups(const making *m, int64_t lanes) {
    int64_t threads = DEFAULT_BLOCK_GROUPS * lanes;
    if (threads < DEFAULT_WALK_LEAST_THREADS) threads = DEFAULT_WALK_LEAST_THREADS;
    if (m->rows == ROWS_WALKED_EVEN || threads > m->p->machine->block_threads)
        threads = m->p->machine->block_threads;
    return threads / lanes;
}

// ---- Classes ------------------------------------------------------------------------------------
bool default_whole_classes(plan_rows rows) {
    return plan_rows_has(rows, ROWS_ARE_WHOLE) && plan_rows_has(rows, ROWS_ARE_CLASSED);
}

// Entries that a group goes through alone: as many as there are for each group that a machine has
// at once, some 8,000; those of a part that several of a row share; and groups of a block.
static const struct {
    plan_rows rows;
    int64_t each, part, groups;
} cut_sizes[] = {
    {ROWS_WALKED_FEWER, DEFAULT_FEWER_EACH, DEFAULT_SHARERS * DEFAULT_FEWER_EACH,
     DEFAULT_BLOCK_GROUPS},
    {ROWS_WALKED_FEW, DEFAULT_FEW_EACH, DEFAULT_SHARERS * DEFAULT_FEW_EACH, DEFAULT_BLOCK_GROUPS},
    {ROWS_WALKED_THIN, DEFAULT_THIN_EACH, DEFAULT_SHARERS * DEFAULT_THIN_EACH,
     DEFAULT_THIN_BLOCK_GROUPS},
    {ROWS_WALKED, DEFAULT_MANY_EACH, DEFAULT_SHARERS * DEFAULT_MANY_EACH,
     DEFAULT_THIN_BLOCK_GROUPS}};

enum { CUT_SIZES = sizeof cut_sizes / sizeof *cut_sizes };

static uint32_t cut_size(plan_rows rows) {
    uint32_t i = 0;
    while (i < CUT_SIZES && cut_sizes[i].rows != rows) i++;
    return i;
}

bool default_cut_classes(const walks *w) {
    return cut_size(w->m->rows) < CUT_SIZES && (w->m->rows != ROWS_WALKED || w->single);
}

bool default_has_classes(const walks *w) {
    return default_whole_classes(w->m->rows) || default_cut_classes(w);
}

static int64_t cut_groups(const walks *w, int64_t lanes) {
    int64_t groups = cut_sizes[cut_size(w->m->rows)].groups;
    if (groups * lanes < DEFAULT_WALK_LEAST_THREADS) groups = DEFAULT_WALK_LEAST_THREADS / lanes;
    return groups * lanes > DEFAULT_WALK_MOST_THREADS && groups > DEFAULT_SHARERS ? DEFAULT_SHARERS
                                                                                  : groups;
}

// Groups of a block: a row of the last class of whole ones has all of them.
int64_t default_class_groups(const walks *w, int64_t lanes) {
    const int64_t most = w->p->machine->block_threads / lanes;
    if (w->m->rows == ROWS_WALKED_AT_ONCE) return DEFAULT_AT_ONCE_GROUPS;
    if (w->m->rows == ROWS_WALKED_SHORT && w->single && w->light && most < DEFAULT_AT_ONCE_GROUPS)
        return DEFAULT_AT_ONCE_GROUPS;
    const int64_t groups = default_cut_classes(w) ? cut_groups(w, lanes)
                           : w->heavy             ? DEFAULT_CLASS_GROUPS
                                                  : most;
    return groups < most ? groups : most;
}

// Short rows have a group each, longer ones four, or a block: in one launch. Where none is too long
// nothing is combined later; else those of four groups are cut where each has so many, and few rows
// are.
uint32_t default_row_sizes(const walks *w, int64_t groups, default_row_size size[3]) {
    const int64_t sharers = groups < DEFAULT_SHARERS ? groups : DEFAULT_SHARERS;
    if (default_cut_classes(w)) {
        const uint32_t cut = cut_size(w->m->rows);
        const int64_t each = cut_sizes[cut].each;
        size[0] = (default_row_size){"light", 1, each + 1, 0};
        size[1] = (default_row_size){"heavy", sharers, 0,
                                     cut_sizes[cut].part * sharers / DEFAULT_SHARERS};
        return 2;
    }
    const bool at_once = w->m->rows == ROWS_WALKED_AT_ONCE;
    size[0] = (default_row_size){"light", 1, at_once ? 9 : 33, 0};
    size[1] = (default_row_size){"middle", sharers, at_once ? DEFAULT_AT_ONCE_HEAVY : 129, 0};
    size[2] = (default_row_size){"heavy", groups, 0, 0};
    return 3;
}
