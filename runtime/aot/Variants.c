/* The first variant whose conditions hold, or a text that says for each why it doesn't. Part of Launcher.c. */

static int64_t signExtend(uint64_t value, unsigned bytes) {
  unsigned shift = 64 - 8 * bytes;
  return (int64_t)(value << shift) >> shift;
}

static float floatOf(uint64_t bits) {
  uint32_t low = (uint32_t)bits;
  float value;
  memcpy(&value, &low, sizeof value);
  return value;
}

static double doubleFrom(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static TkProgramValue programValue(const TkAotParameter *parameter, uint64_t value) {
  TkProgramValue result = {TkValueInt, 0, 0};
  switch (parameter->kind) {
  case TkAotSigned: result.integer = signExtend(value, parameter->bytes); break;
  case TkAotUnsigned:
    result.integer = (int64_t)value;
    if (result.integer < 0) /* beyond what the machine counts in */
      result.kind = TkValueOther;
    break;
  case TkAotBool: result.kind = TkValueBool, result.integer = value != 0; break;
  case TkAotFloat: result.kind = TkValueFloat, result.number = (double)floatOf(value); break;
  case TkAotDouble: result.kind = TkValueFloat, result.number = doubleFrom(value); break;
  default: result.kind = TkValueOther; break;
  }
  return result;
}

/* A value as a message shows it. */
static void addValue(Text *text, const TkAotParameter *parameter, uint64_t value) {
  switch (parameter->kind) {
  case TkAotPointer: value ? add(text, "0x%llx", (unsigned long long)value) : add(text, "NULL"); break;
  case TkAotSigned: add(text, "%lld", (long long)signExtend(value, parameter->bytes)); break;
  case TkAotUnsigned: add(text, "%llu", (unsigned long long)value); break;
  case TkAotBool: add(text, "%s", value ? "true" : "false"); break;
  case TkAotFloat: add(text, "%.9g", (double)floatOf(value)); break;
  case TkAotDouble: add(text, "%.17g", doubleFrom(value)); break;
  default: add(text, "0x%llx", (unsigned long long)value); break;
  }
}

static int holds(const TkAotParameter *parameter, const TkAotCondition *condition, uint64_t value) {
  uint64_t low = lowBytes(value, condition->bytes);
  switch (condition->test) {
  case TkAotEquals: return value == lowBytes((uint64_t)condition->value, parameter->bytes);
  case TkAotDivisibleBy16: return value % 16 == 0;
  case TkAotNotNull: return value != 0;
  case TkAotFitsSigned: return parameter->kind == TkAotSigned ? signExtend(value, parameter->bytes) == signExtend(low, condition->bytes) : value == low;
  default: return parameter->kind == TkAotSigned ? signExtend(value, parameter->bytes) == (int64_t)low : value == low;
  }
}

static void addCondition(Text *text, const TkAotParameter *parameter, const TkAotCondition *condition) {
  switch (condition->test) {
  case TkAotEquals:
    add(text, "%s = ", parameter->name);
    addValue(text, parameter, lowBytes((uint64_t)condition->value, parameter->bytes));
    break;
  case TkAotDivisibleBy16: add(text, parameter->kind == TkAotPointer ? "%s at a multiple of 16 bytes" : "%s divisible by 16", parameter->name); break;
  case TkAotNotNull: add(text, "%s not NULL", parameter->name); break;
  default: add(text, "%s in %s%d", parameter->name, condition->test == TkAotFitsSigned ? "i" : "u", 8 * condition->bytes); break;
  }
}

static tk_aot_status findVariant(const TkAotKernel *kernel, const uint64_t *values, const TkAotVariant **found) {
  Text text;
  for (uint32_t i = 0; i < kernel->parameterCount; ++i) {
    const TkAotParameter *parameter = &kernel->parameters[i];
    if (parameter->kind == TkAotPointer && parameter->element > 1 && values[i] % parameter->element)
      return fail(TK_AOT_BAD_ARGUMENT, kernel, "`%s` is 0x%llx, no multiple of the %u bytes of its elements", parameter->name, (unsigned long long)values[i],
                  parameter->element);
  }
  for (uint32_t i = 0; i < kernel->variantCount; ++i) {
    const TkAotVariant *variant = &kernel->variants[i];
    uint32_t j = 0;
    while (j < variant->conditionCount && holds(&kernel->parameters[variant->conditions[j].parameter], &variant->conditions[j], values[variant->conditions[j].parameter]))
      ++j;
    if (j == variant->conditionCount) {
      *found = variant;
      return TK_AOT_OK;
    }
  }
  text = failure(kernel);
  add(&text, "none of the compiled variants fits");
  for (uint32_t i = 0; i < kernel->variantCount; ++i) {
    const TkAotVariant *variant = &kernel->variants[i];
    int first = 1;
    add(&text, "\n  `%s` needs ", variant->text);
    for (uint32_t j = 0; j < variant->conditionCount; ++j) {
      uint16_t index = variant->conditions[j].parameter;
      if (holds(&kernel->parameters[index], &variant->conditions[j], values[index]))
        continue;
      add(&text, first ? "" : ", ");
      addCondition(&text, &kernel->parameters[index], &variant->conditions[j]);
      add(&text, ", found ");
      addValue(&text, &kernel->parameters[index], values[index]);
      first = 0;
    }
  }
  return TK_AOT_NO_VARIANT;
}
