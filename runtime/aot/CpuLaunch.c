/* The host as a device: programs in contiguous chunks on threads that live as long as the process. Part of Launcher.c.
 *
 * Code that spins on memory calls `yield`. The programs of a launch may wait for each other in any way, so when every running one has yielded since something last
 * happened, and others have not started, further threads start them: as many as there are, so that a barrier over n programs takes log n rounds. There is a bound,
 * beyond which the launch fails instead of waiting for ever.
 */
#include <cpuid.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum { mostThreads = 1024, threadStackBytes = 512 << 10, stuckSeconds = 2, assertionBytes = 1024 };

/* runtime/device/cpu/CpuServices.h, in C. */
typedef struct {
  const char *prefix;
  uint64_t bits;
  int64_t index[8];
  int32_t program[3];
  int32_t operand;
  uint8_t rank, kind, width, hex;
} Printed;
typedef struct {
  uint32_t version, reserved;
  void *context;
  void (*print)(void *context, const char *text, uint64_t length);
  void (*assertFailed)(void *context, const char *message, const int32_t program[3]);
  void (*yield)(void *context);
  void (*printElement)(void *context, const Printed *item);
} Services;
typedef void (*Entry)(const uint64_t *slots, const int32_t grid[3], uint64_t begin, uint64_t end, void *arena, const void *services);

#include "runtime/aot/PrintedElement.c" /* NOLINT(bugprone-suspicious-include) */

/* ---- what the host has ---- */

static unsigned cpuHas(void) {
  static _Atomic unsigned known; /* with the highest bit set */
  unsigned a, b, c, d, b7, c7, a71, has = 1u << 31, extended, state = 0, value = atomic_load_explicit(&known, memory_order_relaxed);
  if (value)
    return value;
  if (__get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE))
    __asm__("xgetbv" : "=a"(state) : "c"(0) : "edx");
  if (!__get_cpuid(0x80000001, &a, &b, &extended, &d))
    extended = 0;
  if ((state & 6) == 6 && __get_cpuid_count(7, 0, &a, &b7, &c7, &d)) {
    const unsigned need1 = bit_SSE3 | bit_SSSE3 | bit_FMA | bit_CMPXCHG16B | bit_SSE4_1 | bit_SSE4_2 | bit_MOVBE | bit_POPCNT | bit_AVX | bit_F16C;
    const unsigned need7 = bit_BMI | bit_AVX2 | bit_BMI2, need512 = bit_AVX512F | bit_AVX512DQ | bit_AVX512CD | bit_AVX512BW | bit_AVX512VL;
    const unsigned lahf = 1, lzcnt = 1u << 5;
    if (__get_cpuid(1, &a, &b, &c, &d) && (c & need1) == need1 && (b7 & need7) == need7 && (extended & (lahf | lzcnt)) == (lahf | lzcnt))
      has |= TkAotCpuV3;
    if ((has & TkAotCpuV3) && (state & 0xe6) == 0xe6 && (b7 & need512) == need512)
      has |= TkAotCpuV4;
    if (!__get_cpuid_count(7, 1, &a71, &b, &c, &d))
      a71 = 0;
    has |= (has & TkAotCpuV3) && (a71 & 1u << 4) ? TkAotCpuAvxVnni : 0;
    has |= (has & TkAotCpuV4) && (c7 & 1u << 11) ? TkAotCpuAvx512Vnni : 0;
    has |= (has & TkAotCpuV4) && (a71 & 1u << 5) ? TkAotCpuAvx512Bf16 : 0;
  }
  atomic_store_explicit(&known, has, memory_order_relaxed);
  return has;
}

static unsigned availableCores(void) {
  cpu_set_t set;
  int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : (unsigned)count;
}

/* ---- a launch ---- */

typedef struct {
  const TkAotKernel *kernel;
  const TkAotCode *code;
  const uint64_t *slots;
  int32_t grid[3];
  uint64_t total;
  unsigned threads;
  _Atomic uint64_t next;
  _Atomic int failed; /* a tk_aot_status */
  pthread_mutex_t lock;     /* guards what follows */
  pthread_cond_t ended;     /* an extra thread */
  _Atomic unsigned live;    /* threads in the launch */
  unsigned extra;           /* those started for it that have not ended */
  unsigned epoch, waiting;  /* counts what happened, from 1; threads that have yielded since */
  struct timespec happened;
  uint64_t failedProgram;
  char message[assertionBytes];
} Launch;

/* One thread in a launch. */
typedef struct {
  Launch *launch;
  Services services;
  unsigned epoch;  /* that of its last yield; 0: none */
  unsigned yields; /* in a row, of one program */
  jmp_buf giveUp; /* for a yield after the launch has failed */
} Worker;

static void *runExtra(void *launch);

/* With the launch's lock held. */
static void somethingHappened(Launch *launch) {
  ++launch->epoch, launch->waiting = 0;
  clock_gettime(CLOCK_MONOTONIC, &launch->happened);
}

static int startThread(void *(*function)(void *), void *argument, pthread_t *thread) {
  pthread_attr_t attributes;
  sigset_t all, before;
  int result;
  if (pthread_attr_init(&attributes) != 0)
    return 0;
  pthread_attr_setstacksize(&attributes, threadStackBytes);
  sigfillset(&all); /* signals are for the program's own threads */
  pthread_sigmask(SIG_SETMASK, &all, &before);
  result = pthread_create(thread, &attributes, function, argument);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return result == 0;
}

static int secondsSince(const struct timespec *then) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int)(now.tv_sec - then->tv_sec) - (now.tv_nsec < then->tv_nsec);
}

static void yieldOf(void *context) {
  Worker *worker = context;
  Launch *launch = worker->launch;
  if (!atomic_load(&launch->failed) && atomic_load(&launch->next) < launch->total) {
    pthread_mutex_lock(&launch->lock);
    if (worker->epoch != launch->epoch)
      worker->epoch = launch->epoch, ++launch->waiting;
    if (launch->waiting >= launch->live) {
      unsigned wanted = launch->live, started = 0;
      uint64_t left = launch->total - atomic_load(&launch->next);
      for (; started < wanted && started < left && launch->live < mostThreads; ++started) {
        pthread_t thread;
        if (!startThread(runExtra, launch, &thread))
          break;
        pthread_detach(thread);
        ++launch->live, ++launch->extra;
      }
      if (started)
        somethingHappened(launch);
      else if (secondsSince(&launch->happened) >= stuckSeconds)
        atomic_store(&launch->failed, TK_AOT_STUCK);
    }
    pthread_mutex_unlock(&launch->lock);
  }
  if (atomic_load(&launch->failed))
    longjmp(worker->giveUp, 1); /* what this program waits for may never come; kernel code holds nothing that must be released */
  if (++worker->yields > 16 && launch->live > launch->threads) { /* more of them than cores: those that have work come first */
    const struct timespec moment = {0, 50000};
    nanosleep(&moment, NULL);
  } else {
    sched_yield();
  }
}

static void assertFailed(void *context, const char *message, const int32_t program[3]) {
  Launch *launch = ((Worker *)context)->launch;
  uint64_t index = (uint64_t)program[0] + (uint64_t)launch->grid[0] * ((uint64_t)program[1] + (uint64_t)launch->grid[1] * (uint64_t)program[2]);
  pthread_mutex_lock(&launch->lock);
  if (index < launch->failedProgram || !launch->message[0]) { /* that of the lowest program is kept */
    launch->failedProgram = index;
    snprintf(launch->message, sizeof launch->message, "%s [program (%d, %d, %d)]", message, program[0], program[1], program[2]);
  }
  atomic_store(&launch->failed, TK_AOT_ASSERTION_FAILED);
  pthread_mutex_unlock(&launch->lock);
}

/* The next chunk: large at first, smaller towards the end. */
static int takeChunk(Launch *launch, uint64_t *begin, uint64_t *end) {
  uint64_t current = atomic_load_explicit(&launch->next, memory_order_relaxed), size;
  do {
    if (current >= launch->total || atomic_load_explicit(&launch->failed, memory_order_relaxed))
      return 0;
    size = launch->code->spins ? 1 : (launch->total - current) / (2 * (uint64_t)launch->threads);
    size = size ? size : 1;
  } while (!atomic_compare_exchange_weak(&launch->next, &current, current + size));
  *begin = current, *end = current + size;
  return 1;
}

/* Scratch memory of one thread, kept between launches. */
typedef struct {
  void *memory;
  size_t bytes;
} Arena;

static int growArena(Arena *arena, size_t bytes) {
  if (arena->memory && arena->bytes >= bytes)
    return 1;
  free(arena->memory);
  arena->bytes = (bytes + 64) / 64 * 64;
  arena->memory = aligned_alloc(64, arena->bytes);
  return arena->memory != NULL;
}

static void runChunks(Launch *launch, Arena *arena) {
  Worker worker = {.launch = launch, .services = {1, 0, &worker, printText, assertFailed, yieldOf, printElement}};
  uint64_t begin, end;
  if (!growArena(arena, launch->code->arenaBytes)) {
    atomic_store(&launch->failed, TK_AOT_OUT_OF_MEMORY);
    return;
  }
  while (takeChunk(launch, &begin, &end)) {
    worker.yields = 0;
    if (setjmp(worker.giveUp) == 0)
      ((Entry)(uintptr_t)launch->code->image)(launch->slots, launch->grid, begin, end, arena->memory, &worker.services);
    if (launch->code->spins) {
      pthread_mutex_lock(&launch->lock);
      somethingHappened(launch); /* a program has ended */
      pthread_mutex_unlock(&launch->lock);
    }
  }
}

/* Takes the calling thread out of a launch whose programs have all started, so that those which wait are not held up by it. */
static void leave(Launch *launch) {
  pthread_mutex_lock(&launch->lock);
  --launch->live;
  pthread_mutex_unlock(&launch->lock);
}

static void *runExtra(void *argument) {
  Launch *launch = argument;
  Arena arena = {NULL, 0};
  runChunks(launch, &arena);
  free(arena.memory);
  pthread_mutex_lock(&launch->lock);
  --launch->live;
  if (--launch->extra == 0)
    pthread_cond_signal(&launch->ended);
  pthread_mutex_unlock(&launch->lock); /* the last that this thread does with it */
  return NULL;
}

/* ---- the threads ---- */

typedef struct Pool Pool;
typedef struct {
  Pool *pool;
  pthread_t thread; /* not of the first, which is the caller's */
  Arena arena;
} Seat;
struct Pool {
  pid_t process; /* in a child of fork() the threads are not there */
  pthread_mutex_t turn; /* held by the one launch that runs */
  pthread_mutex_t lock; /* guards what follows */
  pthread_cond_t called, finished;
  Launch *launch;
  unsigned size, generation, wanted, working, stopping; /* size: seats with a thread of the pool */
  Seat seats[mostThreads + 1];
};

static _Atomic(Pool *) sharedPool;

static void *serve(void *argument) {
  Seat *seat = argument;
  Pool *pool = seat->pool;
  unsigned seen = 0;
  pthread_mutex_lock(&pool->lock);
  while (!pool->stopping) {
    if (seen == pool->generation || !pool->wanted) {
      pthread_cond_wait(&pool->called, &pool->lock);
      continue;
    }
    seen = pool->generation;
    --pool->wanted;
    pthread_mutex_unlock(&pool->lock);
    runChunks(pool->launch, &seat->arena);
    leave(pool->launch);
    pthread_mutex_lock(&pool->lock);
    if (--pool->working == 0)
      pthread_cond_signal(&pool->finished);
  }
  pthread_mutex_unlock(&pool->lock);
  return NULL;
}

/* The process's pool; null when memory is short. The one of a parent process is left behind. */
static Pool *poolOf(void) {
  Pool *pool = atomic_load(&sharedPool), *made;
  unsigned threads;
  if (pool && pool->process == getpid())
    return pool;
  made = calloc(1, sizeof *made);
  if (!made)
    return NULL;
  made->process = getpid();
  pthread_mutex_init(&made->turn, NULL), pthread_mutex_init(&made->lock, NULL);
  pthread_cond_init(&made->called, NULL), pthread_cond_init(&made->finished, NULL);
  pthread_mutex_lock(&made->turn);
  if (!atomic_compare_exchange_strong(&sharedPool, &pool, made)) { /* another thread was faster */
    pthread_mutex_unlock(&made->turn);
    free(made);
    return pool;
  }
  threads = availableCores();
  for (threads = threads < mostThreads ? threads : mostThreads; made->size + 1 < threads; ++made->size) {
    Seat *seat = &made->seats[made->size + 1];
    seat->pool = made;
    if (!startThread(serve, seat, &seat->thread))
      break;
  }
  pthread_mutex_unlock(&made->turn);
  return made;
}

/* The object may be part of a library that goes: no thread may stay in its code. */
__attribute__((destructor)) static void stopThreads(void) {
  Pool *pool = atomic_load(&sharedPool);
  if (!pool || pool->process != getpid() || pthread_mutex_trylock(&pool->turn) != 0) /* at the end of the process another thread may be in a launch */
    return;
  pthread_mutex_lock(&pool->lock);
  pool->stopping = 1;
  pthread_cond_broadcast(&pool->called);
  pthread_mutex_unlock(&pool->lock);
  for (unsigned i = 0; i <= pool->size; ++i) {
    if (i)
      pthread_join(pool->seats[i].thread, NULL);
    free(pool->seats[i].arena.memory);
  }
  atomic_store(&sharedPool, NULL);
  free(pool);
}

static void runOnPool(Pool *pool, Launch *launch) {
  unsigned helpers;
  pthread_mutex_lock(&pool->turn);
  helpers = launch->total - 1 < pool->size ? (unsigned)(launch->total - 1) : pool->size;
  launch->threads = launch->live = helpers + 1;
  if (helpers) {
    pthread_mutex_lock(&pool->lock);
    pool->launch = launch, pool->wanted = pool->working = helpers, ++pool->generation;
    pthread_cond_broadcast(&pool->called);
    pthread_mutex_unlock(&pool->lock);
  }
  runChunks(launch, &pool->seats[0].arena);
  leave(launch);
  pthread_mutex_lock(&pool->lock);
  /* Those that have not woken up yet are not needed any more: every program has started. */
  if (helpers) {
    pool->working -= pool->wanted;
    pthread_mutex_lock(&launch->lock);
    launch->live -= pool->wanted;
    pthread_mutex_unlock(&launch->lock);
    pool->wanted = 0;
    while (pool->working)
      pthread_cond_wait(&pool->finished, &pool->lock);
  }
  pthread_mutex_unlock(&pool->lock);
  pthread_mutex_lock(&launch->lock);
  while (launch->extra)
    pthread_cond_wait(&launch->ended, &launch->lock);
  pthread_mutex_unlock(&launch->lock);
  pthread_mutex_unlock(&pool->turn);
}

static const TkAotCode *cpuCodeOf(const TkAotVariant *variant) {
  for (uint32_t i = 0; i < variant->codeCount; ++i)
    if (variant->codes[i].device == TK_AOT_CPU && (variant->codes[i].needs & ~cpuHas()) == 0)
      return &variant->codes[i];
  return NULL;
}

static tk_aot_status cpuPrepare(const TkAotKernel *kernel, const TkAotVariant *variant) {
  Text text;
  if (cpuCodeOf(variant))
    return TK_AOT_OK;
  text = failure(kernel);
  add(&text, "this CPU has not what the code needs; the object was compiled for ");
  addTargets(&text, kernel);
  return TK_AOT_NO_VARIANT;
}

static tk_aot_status cpuLaunch(const TkAotKernel *kernel, const TkAotVariant *variant, const int64_t grid[3], const uint64_t *values) {
  uint64_t slots[TK_AOT_PARAMETERS];
  Launch launch = {.kernel = kernel, .code = cpuCodeOf(variant), .slots = slots, .total = 1, .epoch = 1, .failedProgram = UINT64_MAX};
  Pool *pool;
  tk_aot_status status = cpuPrepare(kernel, variant);
  if (status != TK_AOT_OK)
    return status;
  for (int axis = 0; axis < 3; ++axis) {
    if (grid[axis] < 0 || grid[axis] > INT32_MAX || __builtin_mul_overflow(launch.total, (uint64_t)grid[axis], &launch.total))
      return fail(TK_AOT_BAD_ARGUMENT, kernel, "a grid of (%lld, %lld, %lld) can't be launched: extents lie between 0 and 2^31 - 1", (long long)grid[0],
                  (long long)grid[1], (long long)grid[2]);
    launch.grid[axis] = (int32_t)grid[axis];
  }
  if (!launch.total)
    return TK_AOT_OK;
  for (uint32_t i = 0; i < launch.code->slotCount; ++i)
    slots[i] = lowBytes(values[launch.code->slots[i].parameter], launch.code->slots[i].bytes);
  pool = poolOf();
  if (!pool)
    return fail(TK_AOT_OUT_OF_MEMORY, kernel, "no memory for the threads' table");
  pthread_mutex_init(&launch.lock, NULL), pthread_cond_init(&launch.ended, NULL);
  clock_gettime(CLOCK_MONOTONIC, &launch.happened);
  runOnPool(pool, &launch);
  pthread_mutex_destroy(&launch.lock), pthread_cond_destroy(&launch.ended);
  status = (tk_aot_status)atomic_load(&launch.failed);
  switch (status) {
  case TK_AOT_OK: return status;
  case TK_AOT_ASSERTION_FAILED: return fail(status, kernel, "device assertion failed: %s", launch.message);
  case TK_AOT_STUCK:
    return fail(status, kernel, "%llu of %llu programs wait for others, and no more can run at once on this CPU",
                (unsigned long long)atomic_load(&launch.next), (unsigned long long)launch.total);
  default: return fail(status, kernel, "%llu bytes of scratch memory a thread can't be allocated", (unsigned long long)launch.code->arenaBytes);
  }
}
