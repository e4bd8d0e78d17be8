/* Compiled kernels as KernelAbi.h says: program i adds n and the function's number to out[i]. */
#include <stdint.h>

#define KERNEL(number)                                                                                                              \
  void add##number(const uint64_t *slots, const int32_t grid[3], uint64_t begin, uint64_t end, void *arena, const void *services) { \
    int64_t *out = (int64_t *)slots[0];                                                                                             \
    for (uint64_t i = begin; i < end; ++i)                                                                                          \
      out[i] += (int32_t)slots[1] + number;                                                                                         \
  }

KERNEL(0)
KERNEL(1)
KERNEL(2)
KERNEL(3)
