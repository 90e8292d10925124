// Where rows lie in panels: shared memory as matrix operations of four warps read it, swizzled.

#include "lower/copies/copies.h"

// Rows of a block's own lie so for each four warps.
uint32_t lw_panel_rows(const fetched_rows *f) { return f->rows->own ? SIMT_GROUP_ROWS : f->tile.rows; }

// Where a row's piece of 16 bytes lies, in bytes: simt_mma_row_at of the row.
simt_value lw_in_panels(simt_builder *b, const fetched_rows *f, uint32_t row_bytes, simt_value row,
                        simt_value part) {
    uint32_t rows = lw_panel_rows(f);
    simt_value in = rows < f->tile.rows ? simt_build_with(b, SIMT_UREM, row, rows) : row;
    simt_value panel = simt_build_with(b, SIMT_UDIV, part, PANEL_TURN),
               turn = simt_build_with(b, SIMT_UREM, in, PANEL_TURN),
               piece = simt_build_binary(b, SIMT_XOR, simt_build_with(b, SIMT_UREM, part, PANEL_TURN), turn),
               at = simt_build_binary(b, SIMT_ADD, simt_build_with(b, SIMT_MUL, panel, rows), in);
    at = simt_build_binary(b, SIMT_ADD, simt_build_with(b, SIMT_MUL, at, SIMT_PANEL_ROW),
                           simt_build_with(b, SIMT_MUL, piece, PANEL_PIECE));
    if (rows == f->tile.rows) return at;
    return simt_build_binary(
        b, SIMT_ADD, at,
        simt_build_with(b, SIMT_MUL, simt_build_with(b, SIMT_UDIV, row, rows), (int64_t)rows * row_bytes));
}
