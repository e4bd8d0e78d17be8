// The float forms of instructions whose names integers have too.
#pragma once
#include "runtime/device/emulated/Decoder.h"

namespace tk::emulated {

void decodeFloatAdd(Decoding &d, Type type, bool saturates, bool subtracts);
void decodeFloatMul(Decoding &d, Type type);
void decodeFloatFma(Decoding &d, Type type);
void decodeFloatDiv(Decoding &d, Type type);
void decodeFloatSign(Decoding &d, Type type, bool absolute);
void decodeFloatExtreme(Decoding &d, Type type, bool wantsMax);
// HalfOps.cpp
bool isHalf(Type type);
void decodeHalfBinary(Decoding &d, Type type, int operation, bool saturates); // 0 add, 1 sub, 2 mul
void decodeHalfFma(Decoding &d, Type type, bool saturates);
void decodeHalfSign(Decoding &d, Type type, bool absolute);
void decodeHalfExtreme(Decoding &d, Type type, bool wantsMax);
void decodeHalfUnary(Decoding &d, Type type, int operation); // 0 ex2, 1 tanh

} // namespace tk::emulated
