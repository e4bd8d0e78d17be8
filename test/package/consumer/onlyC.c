/* A program without C++. */
#include <stdio.h>

int plainC(void);

int main(void) {
  int failed = plainC();
  printf("only C: %d failed\n", failed);
  return failed;
}
