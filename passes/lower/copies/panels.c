// Where rows lie in panels, which are the swizzled tiles of shared memory that matrix operations of
// four warps read.

#include "lower/copies/copies.h"

// A block's own rows have panels for each four warps.
uint32_t lw_panel_rows(const fetched_rows *f) {
    return f->rows->own ? SIMT_GROUP_ROWS : f->tile.rows;
}

// The offset of a piece of 16 bytes of the row, in bytes, as simt_mma_row_at has it.
simt_value lw_in_panels(simt_builder *b, const fetched_rows *f, uint32_t row_bytes, simt_value row,
                        simt_value part) {
    uint32_t rows = lw_panel_rows(f);
    simt_value in = rows < f->tile.rows ? simt_build_with(b, SIMT_UREM, row, rows) : row;
    simt_value panel = simt_build_with(b, SIMT_UDIV, part, PANEL_TURN),
               turn = simt_build_with(b, SIMT_UREM, in, PANEL_TURN),
               piece = simt_build_binary(b, SIMT_XOR,
                                         simt_build_with(b, SIMT_UREM, part, PANEL_TURN), turn),
               at = simt_build_binary(b, SIMT_ADD, simt_build_with(b, SIMT_MUL, panel, rows), in);
    at = simt_build_binary(b, SIMT_ADD, simt_build_with(b, SIMT_MUL, at, SIMT_PANEL_ROW),
                           simt_build_with(b, SIMT_MUL, piece, PANEL_PIECE));
    if (rows == f->tile.rows) return at;
    return simt_build_binary(b, SIMT_ADD, at,
                             simt_build_with(b, SIMT_MUL, simt_build_with(b, SIMT_UDIV, row, rows),
                                             (int64_t)rows * row_bytes));
}
