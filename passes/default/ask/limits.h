// Limits that the parts of the default schedule share.
#ifndef GNNC_DEFAULT_LIMITS_H
#define GNNC_DEFAULT_LIMITS_H

// Measured on an H200 over skewed, dense and batched graphs (bench/RECORD.md).
enum {
    DEFAULT_HEAVY = 256,       // entries from which on a row is long
    DEFAULT_HEAVIEST = 2048,   // and longer than most that are
    DEFAULT_PART = 256,        // of a row that is cut
    DEFAULT_NARROW_PART =
        64,   // of one whose entries stream and are narrow: nothing else waits as long
    DEFAULT_NARROW_ROUND =
        16,   // bytes of such an entry from which on more lanes share a row, instead of more steps
    DEFAULT_STANDS = 32,    // of a row that is short: such rows stay side by side
    DEFAULT_SHORTEST = 4,   // entries of a row that has no rounds
    DEFAULT_SHORT = 32,   // of a row that a thread goes through alone, or two together where it is
                          // walked three times
    DEFAULT_BLOCKS = 4096,     // of a few warps, that a machine has in two rounds
    DEFAULT_THIN = 8,          // entries of a row on average that warps would idle over
    DEFAULT_BRIEF = 48,        // that lanes of several narrow rows would wait for
    DEFAULT_THIN_PART = 16,    // of a row that is cut, then
    DEFAULT_FEW = 1 << 22,     // entries that a machine's threads have at once, a few dozen each
    DEFAULT_FEWER = 1 << 20,   // or of which a warp has those of a row side by side
    DEFAULT_WALKED_THIN =
        16,   // entries a row on average: of more, groups of half as many lanes are too few
    DEFAULT_WALKED_SHORT = 1 << 19,   // entries of rows that are walked whole, since none is long
    DEFAULT_WALKED_FEWER = 1 << 18,   // or where some are, of which a group goes through few
    DEFAULT_WALKED_FEW = 1 << 19,     // of which parts of few suffice
    DEFAULT_FEWER_EACH = 32,          // entries of a row that a group walks alone, then
    DEFAULT_FEW_EACH = 64,            // of up to DEFAULT_FEW entries in all
    DEFAULT_THIN_EACH = 128,          // where most rows have few
    DEFAULT_MANY_EACH = 256,          // or of more in all
    DEFAULT_EVEN_SHARE = 1 << 13,   // entries for each of the longest row, of which whole rows are
                                    // as quick as parts of them
    DEFAULT_EVEN_SPARE = 1 << 18,   // or are where no row has more than a few dozen
    DEFAULT_PARTS = 8192,           // of a row, that a block of 512 threads adds up in the end
    DEFAULT_FEW_PART =
        128,   // of a row that is cut, then, where a warp has one; 32 or more where it has several
    DEFAULT_SHARED_PART = 64,   // where lanes that gather share a row
    DEFAULT_AT_ONCE_HEAVY =
        33,                      // entries from which on a row has a block, where all begin at once
    DEFAULT_AT_ONCE_FEW = 512,   // blocks that a machine has at once
    DEFAULT_AT_ONCE = 16,       // entries for each lane that shares a row, of one that a group goes
                                // through in a few rounds
    DEFAULT_POINTS = 1 << 15,   // that each find a thread of their own
    DEFAULT_MANY_POINTS = 1 << 22,   // from which on threads take turns
    DEFAULT_EACH = 8,                // of them a value of each map has on average, then
    DEFAULT_TURNS = 4,               // of a block, then
    DEFAULT_SOME_POINTS = 1 << 18,   // that blocks of operations of four warps share in halves
    DEFAULT_WIDEST = 256,            // rows and columns of a matrix that blocks hold
    DEFAULT_OUTER = 16,   // outer products of a sum on average, of those that tensor cores add up:
                          // what an operation has
    DEFAULT_OUTER_FEW = 1 << 17,    // in all, of which parts are small
    DEFAULT_OUTER_MANY = 1 << 21,   // or large
    DEFAULT_ROOM = 1536,   // threads that points of 16 bits, and the rows of warps, leave room for:
                           // 40 registers each
    DEFAULT_STREAM_ROOM = 1024,   // that rows of small entries do
    DEFAULT_LONGEST = 1536,       // instructions of a step: what it computes for all numbers that a
                                  // thread holds of a row fits its registers
    DEFAULT_LONG = 740,   // of several steps side by side; of numbers of 16 bits, two of which a
                          // register has, twice as many
    DEFAULT_HELD = 32     // points of several axes a thread holds
};

#endif
