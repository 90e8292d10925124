// Elements of large arrays by all cores. Which thread has which piece is nobody's business: each
// element is computed by itself.
#include "spread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { FEW = 1 << 17, MOST_THREADS = 64, PIECES = 8 };   // pieces a thread

typedef struct {
    int64_t n, piece;
    _Atomic int64_t next;
    void (*body)(void *user, int64_t first, int64_t last);
    void *user;
} spreading;

static void *work(void *user) {
    spreading *s = user;
    for (int64_t first; (first = atomic_fetch_add(&s->next, s->piece)) < s->n;) {
        int64_t last = s->n - first < s->piece ? s->n : first + s->piece;
        s->body(s->user, first, last);
    }
    return NULL;
}

void spread(int64_t n, void (*body)(void *user, int64_t first, int64_t last), void *user) {
    pthread_t others[MOST_THREADS];
    long cores = n < FEW ? 1 : sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t threads = cores < 2              ? 1
                       : cores > MOST_THREADS ? MOST_THREADS
                                              : (uint32_t)cores,
             begun = 0;
    spreading s = {.n = n, .piece = n / (threads * PIECES) + 1, .body = body, .user = user};
    while (begun + 1 < threads && !pthread_create(&others[begun], NULL, work, &s)) begun++;
    work(&s);   // alone where there are no others to be had
    for (uint32_t i = 0; i < begun; i++) pthread_join(others[i], NULL);
}
