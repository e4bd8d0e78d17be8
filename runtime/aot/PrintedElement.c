/* Lines of device_print, as runtime/device/PrintedLine.cpp writes them. Part of CpuLaunch.c. */

static int isNegative64(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits >> 63 != 0;
}

/* The shortest digits that read back as the same number: 0.1, 100000, 1e+16. */
static void addNumber(Text *text, double value, int isSingle) {
  char digits[40], *exponent;
  int precision = 1, power;
  if (value != value || value - value != 0) {
    add(text, value != value ? (isNegative64(value) ? "-nan" : "nan") : value < 0 ? "-inf" : "inf");
    return;
  }
  for (; precision < 17; ++precision) {
    snprintf(digits, sizeof digits, "%.*e", precision - 1, value);
    if (isSingle ? strtof(digits, NULL) == (float)value : strtod(digits, NULL) == value)
      break;
  }
  snprintf(digits, sizeof digits, "%.*e", precision - 1, value);
  exponent = strchr(digits, 'e');
  power = exponent ? atoi(exponent + 1) : 0;
  if (power < -4 || power >= 16)
    add(text, "%s", digits);
  else
    add(text, "%.*f", precision - 1 > power ? precision - 1 - power : 0, value);
}

static void printText(void *context, const char *text, uint64_t length) {
  (void)context;
  flockfile(stdout);
  fwrite(text, 1, length, stdout);
  if (!length || text[length - 1] != '\n')
    putc_unlocked('\n', stdout);
  funlockfile(stdout);
}

static void printElement(void *context, const Printed *item) {
  char line[1024];
  Text text = {line, sizeof line, 0};
  int64_t integer = item->width ? (int64_t)(item->bits << (64 - item->width)) >> (64 - item->width) : 0;
  float single;
  uint32_t low = (uint32_t)item->bits;
  double number;
  memcpy(&single, &low, sizeof single), memcpy(&number, &item->bits, sizeof number);
  add(&text, "pid (%d, %d, %d)", item->program[0], item->program[1], item->program[2]);
  for (unsigned dim = 0; dim < item->rank; ++dim)
    add(&text, "%s%lld%s", dim ? ", " : " idx (", (long long)item->index[dim], dim + 1u == item->rank ? ")" : "");
  add(&text, " %s", item->prefix);
  if (item->operand >= 0)
    add(&text, " (operand %d)", item->operand);
  if (item->kind < 5)
    add(&text, ": ");
  if (item->hex && item->kind < 4)
    add(&text, "0x%0*llx", item->width / 4, (unsigned long long)item->bits);
  else if (item->kind == 0)
    add(&text, "%llu", (unsigned long long)item->bits);
  else if (item->kind == 1)
    add(&text, "%lld", (long long)integer);
  else if (item->kind == 2)
    addNumber(&text, (double)single, 1);
  else if (item->kind == 3)
    addNumber(&text, number, 0);
  else if (item->kind == 4)
    add(&text, "%#llx", (unsigned long long)item->bits);
  printText(context, line, text.used);
}
