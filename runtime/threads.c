// The host's threads: a pool that runs numbered pieces of one piece of work at a time. Pieces are
// taken in order by whoever is free; what a piece computes doesn't depend on who runs it. The
// caller works too and waits for nobody but those who joined: work that is done before a worker
// wakes costs one call that wakes them.
#define _POSIX_C_SOURCE 200809L
#include "prepare.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

struct rt_pool {
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    uint64_t round;   // grows by one with each piece of work
    uint32_t busy;    // workers that joined this round
    bool open;        // more may join it
    bool stopping;
    void (*body)(void *data, uint32_t i);
    void *data;
    uint32_t count;
    atomic_uint next;
    pid_t process;       // that has the workers: its children have none
    uint32_t nworkers;   // started; the caller is one more
    pthread_t workers[];
};

uint32_t rt_cores(void) {
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : (uint32_t)n;
}

static void run_pieces(rt_pool *p) {
    // `next` passes count by at most the number of threads, so it can't wrap while count is below
    // 2^31.
    for (uint32_t i; (i = atomic_fetch_add(&p->next, 1)) < p->count;) p->body(p->data, i);
}

static void *work(void *pool) {
    rt_pool *p = pool;
    uint64_t seen = 0;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while ((p->round == seen || !p->open) && !p->stopping)
            pthread_cond_wait(&p->begin, &p->lock);
        if (p->stopping) break;
        seen = p->round;
        p->busy++;
        pthread_mutex_unlock(&p->lock);
        run_pieces(p);
        pthread_mutex_lock(&p->lock);
        if (!--p->busy) pthread_cond_signal(&p->end);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

gnn_status rt_pool_start(gnn_context *c) {
    if (c->pool && c->pool->process != getpid()) rt_pool_stop(c);
    if (c->pool || c->parallel.run || c->threads < 2) return GNN_OK;
    rt_pool *p = rt_alloc_zeroed(c, sizeof *p + (c->threads - 1) * sizeof *p->workers);
    if (!p) return GNN_NO_MEMORY;
    p->process = getpid();
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->begin, NULL);
    pthread_cond_init(&p->end, NULL);
    c->pool = p;
    for (; p->nworkers < c->threads - 1; p->nworkers++)
        if (pthread_create(&p->workers[p->nworkers], NULL, work, p)) {
            rt_pool_stop(c);
            return rt_fail(c, GNN_NO_THREADS, "%u threads cannot be started", c->threads - 1);
        }
    return GNN_OK;
}

static void join(rt_pool *p) {
    pthread_mutex_lock(&p->lock);
    p->stopping = true;
    pthread_cond_broadcast(&p->begin);
    pthread_mutex_unlock(&p->lock);
    for (uint32_t i = 0; i < p->nworkers; i++) pthread_join(p->workers[i], NULL);
    pthread_cond_destroy(&p->end);
    pthread_cond_destroy(&p->begin);
    pthread_mutex_destroy(&p->lock);
}

// In a child there is nobody to wait for, and the lock may be held by a thread that is not there.
void rt_pool_stop(gnn_context *c) {
    rt_pool *p = c->pool;
    if (!p) return;
    if (p->process == getpid()) join(p);
    rt_free(c, p);
    c->pool = NULL;
}

static void run_pooled(rt_pool *p, uint32_t n, void (*body)(void *data, uint32_t i), void *data) {
    pthread_mutex_lock(&p->lock);
    p->body = body;
    p->data = data;
    p->count = n;
    atomic_store(&p->next, 0);
    p->open = true;
    p->round++;
    pthread_cond_broadcast(&p->begin);
    pthread_mutex_unlock(&p->lock);
    run_pieces(p);
    pthread_mutex_lock(&p->lock);
    p->open = false;
    while (p->busy) pthread_cond_wait(&p->end, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

void rt_parallel(gnn_context *c, uint32_t n, void (*body)(void *data, uint32_t i), void *data) {
    if (c->parallel.run) c->parallel.run(c->parallel.user, n, body, data);
    else if (c->pool && n > 1 && c->pool->process == getpid()) run_pooled(c->pool, n, body, data);
    else
        for (uint32_t i = 0; i < n; i++) body(data, i);
}
