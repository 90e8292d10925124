// Limits that the parts of the default schedule compare with. All were measured on an H200 over
// skewed, dense and batched graphs: a date is that of the entry in bench/RECORD.md that says how.
//
// An entry is what a map takes to a row, such as an edge of a node. A group is the lanes that
// walk a row together: a warp, or a part of one. Entries stream where they are read where they lie;
// what is read by a map is gathered.
#ifndef GNNC_DEFAULT_LIMITS_H
#define GNNC_DEFAULT_LIMITS_H

// ---- How long rows are --------------------------------------------------------------------------
enum {
    // A row of more entries is long. It has a block of its own or is cut into parts, and a version
    // that has no way for long rows is guarded against them.
    DEFAULT_HEAVY = 256,
    // Six classes of rows of a softmax: from half of so many entries on a row has a whole block,
    // and from so many on a block of twice the size (2026-11-23, six classes of softmax rows).
    DEFAULT_HEAVIEST = 2048,
    // Rows of no more entries stay in their own order where longer ones are ordered by degree.
    // What they read lies in a sector or two, of which their neighbours need the rest (2026-11-23,
    // short rows side by side).
    DEFAULT_STANDS = 32,
    // Where no row has more entries, a version takes all of a row at once, without rounds.
    // (2026-11-23, rows of a few entries: on a road network 166.8 µs for 191.0 by 8.)
    DEFAULT_SHORTEST = 4,
    // Where no row has more entries, no lanes share the entries of a row: a thread goes through all
    // of them, or two threads where a softmax walks a row three times (2026-11-23, graphs of ten
    // thousand to a million edges).
    DEFAULT_SHORT = 32,
    // Where rows have no more entries on average, most warps would idle if lanes shared the entries
    // of a row: one lane has all of them, and longer rows are cut early (the same entry).
    DEFAULT_THIN = 8,
    // Rows are alike where the mean is so many times the deviation of their lengths: then their own
    // order is as good as one by length, which reads what lies far apart (2026-11-30, versions
    // beside each other).
    DEFAULT_ALIKE = 8,
    // Where narrow rows that stream have no more entries on average, half as many lanes share a
    // row: with more of them, lanes of several rows wait for the longest (2026-11-23, short rows
    // side by side, *brief*).
    DEFAULT_BRIEF = 48
};

// ---- How many rows and entries there are --------------------------------------------------------
enum {
    // Up to so many rows, each may have a block or a group at once: a machine runs so many blocks
    // of a few warps in two rounds. Versions that need more rows than that are guarded by it, too.
    DEFAULT_BLOCKS = 4096,
    // Up to so many entries in all, the machine's threads have all of them at once, a few dozen
    // each. Nothing hides how long one row takes then, so rows are cut shorter.
    DEFAULT_FEW = 1 << 22,
    // Up to so many entries that stream, a warp shares those of each row. Of 1.17 million the other
    // versions are faster (2026-11-23, graphs of ten thousand to a million edges).
    DEFAULT_FEWER = 1 << 20,
    // Up to so many entries that are gathered, rows of few are cut early (2026-11-30, versions
    // beside each other).
    DEFAULT_THIN_FEW = 1 << 17
};

// ---- Parts of cut rows, in entries --------------------------------------------------------------
// Where several lanes share the entries of a row, a part has so many for each of them. THIN_PART
// and SHARED_PART are of all lanes.
enum {
    DEFAULT_PART = 256,   // where no other limit here says otherwise
    // Of narrow rows that stream: 8 to 16 lanes share one, and parts of 256 for each would take 64
    // rounds of loads, while the rest of the machine has nothing left to do (2026-11-23, rows of a
    // few entries, narrow rows of many).
    DEFAULT_NARROW_PART = 64,
    // Of rows that are thin (DEFAULT_THIN): cut at 16 14.8 µs, at 32 18.2 (2026-11-23, graphs of
    // ten thousand to a million edges).
    DEFAULT_THIN_PART = 16,
    // Of few entries in all, where a warp has one row. Where it has several, a part is as many
    // times shorter, half as many of what streams; but no shorter than 32 entries, or than 64 of
    // all lanes where entries stream or have 16 bits.
    DEFAULT_FEW_PART = 128,
    // Of few entries in all, where four lanes or more share a row, or more than four one that
    // streams: parts of 256 took 1.2 to 2.5 times as long (2026-11-23, small graphs and narrow
    // rows).
    DEFAULT_SHARED_PART = 64,
    // Bytes of an entry of narrow rows: one of fewer has half as many lanes a row, each with twice
    // as many steps under way.
    DEFAULT_NARROW_ROUND = 16
};

// ---- Walks: sums of rows that need each other ---------------------------------------------------
// (2026-11-27, long rows of a class are cut, has the sizes of graphs that decide between these.)
enum {
    // Up to so many entries in all, a group goes through few of a row that may be long (2026-11-30,
    // versions beside each other).
    DEFAULT_WALKED_FEWER = 1 << 19,
    // The longest row that a group walks alone, in entries. Of a longer one a block's groups share
    // parts. Up to DEFAULT_WALKED_FEWER entries in all …
    DEFAULT_FEWER_EACH = 32,
    DEFAULT_FEW_EACH = 64,     // … up to DEFAULT_FEW entries in all
    DEFAULT_MANY_EACH = 256,   // … of any number of entries
    // Rows are walked whole where the longest one, so many times, is no more than all entries
    // together and DEFAULT_EVEN_SPARE more: then whoever has it is not what all wait for.
    DEFAULT_EVEN_SHARE = 1 << 13,
    // Added to all entries there: on a small graph rows of a few dozen may be walked whole.
    DEFAULT_EVEN_SPARE = 1 << 18,
    // A row has at most so many parts: a block of 512 threads adds up their states in the end.
    DEFAULT_PARTS = 8192,
    // Where each row has a block at once, a row of so many entries or more has all groups of it.
    // Where rows have as many on average, and there are more than DEFAULT_AT_ONCE_FEW of them,
    // other versions are faster (2026-11-27, rows that are alike; small batches).
    DEFAULT_AT_ONCE_HEAVY = 33,
    DEFAULT_AT_ONCE_FEW = 512   // blocks of such rows that a machine has at once
};

// ---- A group for each row -----------------------------------------------------------------------
enum {
    // Few rows have a group each where none has more entries than so many for each lane that shares
    // it. Of longer ones, which take more rounds, a block each is faster: 8.5 µs for 12.1
    // (2026-11-23, small graphs and narrow rows).
    DEFAULT_AT_ONCE = 16
};

// ---- Points -------------------------------------------------------------------------------------
enum {
    // Up to so many points, each finds a thread of its own: no thread has several under way
    // (2026-11-23, small graphs, *few points*).
    DEFAULT_POINTS = 1 << 15,
    // From so many dot products on, a block takes DEFAULT_TURNS turns, where each map takes
    // DEFAULT_EACH of them or more to a value on average. On a road network, of three a value,
    // turns do not pay (2026-11-23, dot products of many points).
    DEFAULT_MANY_POINTS = 1 << 22,
    DEFAULT_EACH = 8,
    DEFAULT_TURNS = 4,
    // Up to so many rows of a contraction, blocks of operations of four warps have half as many
    // rows, so that there are enough blocks.
    DEFAULT_SOME_POINTS = 1 << 18
};

// ---- Matrices -----------------------------------------------------------------------------------
enum {
    // Rows and columns of the largest matrix that a block holds. Larger ones come in tiles.
    DEFAULT_WIDEST = 256,
    // Outer products that a sum has on average, at least, where tensor cores add them up: one
    // operation takes so many.
    DEFAULT_OUTER = 16,
    // Up to so many outer products in all, their parts are small, so that there are enough of them.
    DEFAULT_OUTER_FEW = 1 << 17,
    // From so many on, parts are large, as each leaves a matrix that has to be added up.
    DEFAULT_OUTER_MANY = 1 << 21
};

// ---- Registers ----------------------------------------------------------------------------------
enum {
    // Threads of a multiprocessor for which there is to be room, 40 registers each. An assembler
    // that is told computes with the first load only when all are issued. Of points of 16 bits, and
    // of rows that a warp shares (2026-11-23, graphs of ten thousand to a million edges).
    DEFAULT_ROOM = 1536,
    // Likewise, of rows of 32 to 64 bytes that stream (2026-11-23, room for small entries).
    DEFAULT_STREAM_ROOM = 1024,
    // Instructions of one step of a walk. Of a longer step, what it computes for all numbers that a
    // thread holds of a row does not fit the registers: a thread holds fewer of them then.
    DEFAULT_LONGEST = 1536,
    // Instructions of all steps of a walk that are under way side by side: of longer ones there are
    // fewer. Of numbers of 16 bits, two of which a register has, twice as many.
    DEFAULT_LONG = 740,
    // Points of several axes that a thread holds, at most.
    DEFAULT_HELD = 32,
    // Points of a dense axis between rows and features, such as heads, that lanes may cover.
    DEFAULT_MANY_HEADS = 16
};

#endif
