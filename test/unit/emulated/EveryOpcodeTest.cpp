// One small kernel and more for every instruction, with other numbers in every lane: odd and even, negative and large.
#include "Machine.h"
#include "Tested.h"
#include "runtime/device/emulated/NumberFormats.h"
#include <bit>
#include <cmath>
#include <functional>

using namespace tk::emulated;

namespace {

/// What lane `lane` has: in %r1 %r2 %r3, %rd1 %rd2 %rd3, %f1 %f2 (and %f3 = 1.25), the same as %fd1 %fd2, in %h1 %h2 the halves of %f1 %f2, and %p1: the lane
/// is odd.
struct Values {
  uint32_t lane;
  int32_t a, b, c;
  int64_t A, B, C;
  float x, y;
  bool odd;
  uint32_t ua() const { return uint32_t(a); }
  uint32_t ub() const { return uint32_t(b); }
  uint32_t uc() const { return uint32_t(c); }
};
Values valuesOf(uint32_t lane) {
  int32_t i = int32_t(lane), sign = lane % 2 ? -1 : 1;
  Values v = {};
  v.lane = lane;
  v.a = sign * (i * 37 + 11);
  v.b = 3 * i - 40; // never 0
  v.c = i * i * 7919 + 0x5A5A;
  v.A = (int64_t(sign * (i + 3)) << 33) + v.a; // the low half is %r1
  v.A = (v.A & ~0xFFFFFFFFll) | uint32_t(v.a);
  v.B = (int64_t(40 - 3 * i) << 32) | uint32_t(v.b);
  v.C = (int64_t(i * 977) << 32) | uint32_t(v.c);
  v.x = float(v.a) * 0.375f;
  v.y = float(v.b) * 0.125f;
  v.odd = lane % 2;
  return v;
}

/// `result` names the register with the result: r rd f fd h, or p for %p15.
struct Entry {
  const char *opcode, *result, *body;
  std::function<uint64_t(const Values &)> expected;
  const char *before = "";
};

uint64_t bits(float value) { return std::bit_cast<uint32_t>(value); }
uint64_t bits(double value) { return std::bit_cast<uint64_t>(value); }
uint64_t word(int64_t value) { return uint32_t(value); }
int64_t high(int64_t a, int64_t b) { return int64_t((__int128(a) * b) >> 64); }
uint32_t funnel(uint32_t low, uint32_t highWord, uint32_t by) { return uint32_t(((uint64_t(highWord) << 32 | low) << by) >> 32); }
/// Of lane l in terms of another lane's values.
Values at(uint32_t lane) { return valuesOf(lane & 31); }

// clang-format off
const std::vector<Entry> &entries() {
  using V = const Values &;
  static const std::vector<Entry> all = {
  {"add", "r", "add.s32 %r40, %r1, %r2;", [](V v) { return word(v.a + v.b); }},
  {"add", "rd", "add.s64 %rd40, %rd1, %rd2;", [](V v) { return uint64_t(v.A + v.B); }},
  {"add", "f", "add.rn.f32 %f40, %f1, %f2;", [](V v) { return bits(v.x + v.y); }},
  {"add", "fd", "add.rn.f64 %fd40, %fd1, %fd2;", [](V v) { return bits(double(v.x) + double(v.y)); }},
  {"add", "h", "add.rn.f16 %h40, %h1, %h2;", [](V v) { return uint64_t(floatToHalf(halfToFloat(floatToHalf(v.x)) + halfToFloat(floatToHalf(v.y)))); }},
  {"add", "r", "add.sat.s32 %r40, 2147483600, %r1;", [](V v) { return word(std::min<int64_t>(2147483600ll + v.a, 2147483647)); }},
  {"sub", "r", "sub.s32 %r40, %r1, %r2;", [](V v) { return word(v.a - v.b); }},
  {"sub", "f", "sub.f32 %f40, %f1, %f2;", [](V v) { return bits(v.x - v.y); }},
  {"sub", "rd", "sub.u64 %rd40, %rd1, %rd2;", [](V v) { return uint64_t(v.A - v.B); }},
  {"mul", "r", "mul.lo.s32 %r40, %r1, %r3;", [](V v) { return word(int64_t(v.a) * v.c); }},
  {"mul", "r", "mul.hi.s32 %r40, %r1, %r3;", [](V v) { return word(int64_t(v.a) * v.c >> 32); }},
  {"mul", "r", "mul.hi.u32 %r40, %r1, %r3;", [](V v) { return uint64_t(v.ua()) * v.uc() >> 32; }},
  {"mul", "rd", "mul.wide.s32 %rd40, %r1, %r3;", [](V v) { return uint64_t(int64_t(v.a) * v.c); }},
  {"mul", "rd", "mul.hi.s64 %rd40, %rd1, %rd2;", [](V v) { return uint64_t(high(v.A, v.B)); }},
  {"mul", "f", "mul.rz.f32 %f40, %f1, 0f3F9D70A4;", [](V v) { double p = double(v.x) * double(1.23f); float r = float(p); if (std::fabs(double(r)) > std::fabs(p)) r = std::nextafterf(r, 0.0f); return bits(r); }},
  {"mad", "r", "mad.lo.s32 %r40, %r1, %r2, %r3;", [](V v) { return word(int64_t(v.a) * v.b + v.c); }},
  {"mad", "rd", "mad.wide.s32 %rd40, %r1, %r2, %rd3;", [](V v) { return uint64_t(int64_t(v.a) * v.b + v.C); }},
  {"mad", "r", "mad.hi.s32 %r40, %r1, %r3, %r2;", [](V v) { return word((int64_t(v.a) * v.c >> 32) + v.b); }},
  {"fma", "f", "fma.rn.f32 %f40, %f1, %f2, %f3;", [](V v) { return bits(std::fma(v.x, v.y, 1.25f)); }},
  {"fma", "fd", "fma.rn.f64 %fd40, %fd1, %fd2, %fd1;", [](V v) { return bits(std::fma(double(v.x), double(v.y), double(v.x))); }},
  {"div", "r", "div.s32 %r40, %r1, %r2;", [](V v) { return word(v.a / v.b); }},
  {"div", "r", "div.u32 %r40, %r1, %r2;", [](V v) { return uint64_t(v.ua() / v.ub()); }},
  {"div", "f", "div.rn.f32 %f40, %f1, %f2;", [](V v) { return bits(v.x / v.y); }},
  {"div", "f", "div.full.f32 %f40, %f1, %f2;", [](V v) { return bits(v.x / v.y); }},
  {"rem", "r", "rem.s32 %r40, %r1, %r2;", [](V v) { return word(v.a % v.b); }},
  {"rem", "rd", "rem.u64 %rd40, %rd1, %rd2;", [](V v) { return uint64_t(v.A) % uint64_t(v.B); }},
  {"abs", "r", "abs.s32 %r40, %r1;", [](V v) { return word(std::abs(v.a)); }},
  {"abs", "f", "abs.f32 %f40, %f1;", [](V v) { return bits(std::fabs(v.x)); }},
  {"neg", "r", "neg.s32 %r40, %r1;", [](V v) { return word(-v.a); }},
  {"neg", "f", "neg.f32 %f40, %f1;", [](V v) { return bits(-v.x); }},
  {"min", "r", "min.s32 %r40, %r1, %r2;", [](V v) { return word(std::min(v.a, v.b)); }},
  {"min", "r", "min.u32 %r40, %r1, %r2;", [](V v) { return word(std::min(v.ua(), v.ub())); }},
  {"min", "f", "min.f32 %f40, %f1, %f2;", [](V v) { return bits(std::min(v.x, v.y)); }},
  {"min", "f", "mov.b32 %f4, 0f7FC00000; min.NaN.f32 %f40, %f1, %f4;", [](V) { return uint64_t(0x7FFFFFFF); }},
  {"max", "r", "max.s32 %r40, %r1, %r2;", [](V v) { return word(std::max(v.a, v.b)); }},
  {"max", "rd", "max.s64 %rd40, %rd1, %rd2;", [](V v) { return uint64_t(std::max(v.A, v.B)); }},
  {"max", "f", "mov.b32 %f4, 0f7FC00000; max.f32 %f40, %f1, %f4;", [](V v) { return bits(v.x); }},
  {"mul24", "r", "mul24.lo.s32 %r40, %r1, %r2;", [](V v) { return word(int64_t(v.a) * v.b); }},
  {"mul24", "r", "mul24.hi.s32 %r40, %r3, %r3;", [](V v) { int64_t c = int64_t(v.c) << 40 >> 40; return word(c * c >> 16); }},
  {"mad24", "r", "mad24.lo.s32 %r40, %r1, %r2, %r3;", [](V v) { return word(int64_t(v.a) * v.b + v.c); }},
  {"sad", "r", "sad.s32 %r40, %r1, %r2, %r3;", [](V v) { return word(std::abs(v.a - v.b) + v.c); }},
  {"addc", "rd", "add.cc.u32 %r10, %r1, %r3; addc.u32 %r11, %r2, %r1; mov.b64 %rd40, {%r10, %r11};",
   [](V v) { return (uint64_t(v.ub()) << 32 | v.ua()) + (uint64_t(v.ua()) << 32 | v.uc()); }},
  {"subc", "rd", "sub.cc.u32 %r10, %r1, %r3; subc.u32 %r11, %r2, %r1; mov.b64 %rd40, {%r10, %r11};",
   [](V v) { return (uint64_t(v.ub()) << 32 | v.ua()) - (uint64_t(v.ua()) << 32 | v.uc()); }},
  {"madc", "rd", "mad.lo.cc.u32 %r10, %r1, %r3, %r2; madc.hi.u32 %r11, %r1, %r3, 5; mov.b64 %rd40, {%r10, %r11};",
   [](V v) { return uint64_t(v.ua()) * v.uc() + (uint64_t(5) << 32 | v.ub()); }},
  {"dp4a", "r", "dp4a.s32.u32 %r40, %r1, %r3, %r2;",
   [](V v) { int64_t s = v.b; for (int k = 0; k < 4; ++k) s += int64_t(int8_t(v.ua() >> 8 * k)) * uint8_t(v.uc() >> 8 * k); return word(s); }},
  {"dp2a", "r", "dp2a.hi.s32.s32 %r40, %r1, %r3, %r2;",
   [](V v) { int64_t s = v.b; for (int k = 0; k < 2; ++k) s += int64_t(int16_t(v.ua() >> 16 * k)) * int8_t(v.uc() >> (16 + 8 * k)); return word(s); }},
  {"sqrt", "f", "abs.f32 %f4, %f1; sqrt.rn.f32 %f40, %f4;", [](V v) { return bits(std::sqrt(std::fabs(v.x))); }},
  {"rcp", "f", "rcp.rn.f32 %f40, %f2;", [](V v) { return bits(1.0f / v.y); }},
  {"rsqrt", "f", "abs.f32 %f4, %f1; rsqrt.approx.f32 %f40, %f4;", [](V v) { return bits(float(1.0 / std::sqrt(double(std::fabs(v.x))))); }},
  {"ex2", "f", "ex2.approx.f32 %f40, %f2;", [](V v) { return bits(float(std::exp2(double(v.y)))); }},
  {"lg2", "f", "abs.f32 %f4, %f1; lg2.approx.f32 %f40, %f4;", [](V v) { return bits(float(std::log2(double(std::fabs(v.x))))); }},
  {"sin", "f", "sin.approx.f32 %f40, %f2;", [](V v) { return bits(float(std::sin(double(v.y)))); }},
  {"cos", "f", "cos.approx.f32 %f40, %f2;", [](V v) { return bits(float(std::cos(double(v.y)))); }},
  {"tanh", "f", "tanh.approx.f32 %f40, %f2;", [](V v) { return bits(float(std::tanh(double(v.y)))); }},
  {"copysign", "f", "copysign.f32 %f40, %f1, %f2;", [](V v) { return bits(std::copysign(v.y, v.x)); }},
  {"testp", "p", "rcp.rn.f32 %f4, 0f00000000; selp.f32 %f5, %f4, %f1, %p1; testp.infinite.f32 %p15, %f5;", [](V v) { return uint64_t(v.odd); }},
  {"and", "r", "and.b32 %r40, %r1, %r3;", [](V v) { return word(v.a & v.c); }},
  {"and", "p", "setp.gt.s32 %p2, %r2, 0; and.pred %p15, %p1, %p2;", [](V v) { return uint64_t(v.odd && v.b > 0); }},
  {"or", "rd", "or.b64 %rd40, %rd1, %rd3;", [](V v) { return uint64_t(v.A | v.C); }},
  {"xor", "r", "xor.b32 %r40, %r1, %r3;", [](V v) { return word(v.a ^ v.c); }},
  {"not", "r", "not.b32 %r40, %r3;", [](V v) { return word(~v.c); }},
  {"not", "p", "not.pred %p15, %p1;", [](V v) { return uint64_t(!v.odd); }},
  {"cnot", "r", "and.b32 %r4, %r0, 3; cnot.b32 %r40, %r4;", [](V v) { return uint64_t(v.lane % 4 == 0); }},
  {"lop3", "r", "lop3.b32 %r40, %r1, %r2, %r3, 0xD8;", [](V v) { // c ? a : b has the table 0xAC with c first; here a 0xF0, b 0xCC, c 0xAA
     uint32_t r = 0; for (int k = 0; k < 32; ++k) { uint32_t i = (v.ua() >> k & 1) << 2 | (v.ub() >> k & 1) << 1 | (v.uc() >> k & 1); r |= (0xD8u >> i & 1) << k; } return uint64_t(r); }},
  {"shl", "r", "shl.b32 %r40, %r3, %r0;", [](V v) { return word(int64_t(uint64_t(v.uc()) << v.lane)); }},
  {"shl", "r", "add.u32 %r4, %r0, 20; shl.b32 %r40, %r3, %r4;", [](V v) { return v.lane + 20 > 31 ? 0 : word(int64_t(uint64_t(v.uc()) << (v.lane + 20))); }},
  {"shr", "r", "shr.s32 %r40, %r1, %r0;", [](V v) { return word(v.a >> v.lane); }},
  {"shr", "rd", "shr.u64 %rd40, %rd1, %r0;", [](V v) { return uint64_t(v.A) >> v.lane; }},
  {"shf", "r", "shf.l.wrap.b32 %r40, %r1, %r3, %r0;", [](V v) { return uint64_t(funnel(v.ua(), v.uc(), v.lane)); }},
  {"shf", "r", "shf.r.clamp.b32 %r40, %r1, %r3, %r0;", [](V v) { return word(int64_t((uint64_t(v.uc()) << 32 | v.ua()) >> v.lane)); }},
  {"bfe", "r", "bfe.s32 %r40, %r1, 2, 5;", [](V v) { return word(int32_t(v.ua() << 25) >> 27); }},
  {"bfe", "r", "bfe.u32 %r40, %r3, %r0, 7;", [](V v) { return uint64_t(v.uc() >> v.lane & 127); }},
  {"bfi", "r", "bfi.b32 %r40, %r1, %r3, 7, 9;", [](V v) { return uint64_t((v.uc() & ~0xFF80u) | (v.ua() & 511) << 7); }},
  {"brev", "r", "brev.b32 %r40, %r3;", [](V v) { uint32_t r = 0; for (int k = 0; k < 32; ++k) r |= (v.uc() >> k & 1) << (31 - k); return uint64_t(r); }},
  {"clz", "r", "clz.b32 %r40, %r3;", [](V v) { return uint64_t(std::countl_zero(v.uc())); }},
  {"clz", "r", "clz.b64 %r40, %rd3;", [](V v) { return uint64_t(std::countl_zero(uint64_t(v.C))); }},
  {"popc", "r", "popc.b32 %r40, %r1;", [](V v) { return uint64_t(std::popcount(v.ua())); }},
  {"bfind", "r", "bfind.s32 %r40, %r1;", [](V v) { return uint64_t(31 - std::countl_zero(v.a < 0 ? ~v.ua() : v.ua())); }},
  {"bfind", "r", "bfind.shiftamt.u32 %r40, %r3;", [](V v) { return uint64_t(std::countl_zero(v.uc())); }},
  {"fns", "r", "fns.b32 %r40, %r3, 0, 2;", [](V v) { int seen = 0; for (uint32_t k = 0; k < 32; ++k) if ((v.uc() >> k & 1) && ++seen == 2) return uint64_t(k); return word(-1); }},
  {"szext", "r", "szext.wrap.s32 %r40, %r1, 5;", [](V v) { return word(int32_t(v.ua() << 27) >> 27); }},
  {"bmsk", "r", "bmsk.clamp.b32 %r40, %r0, 6;", [](V v) { return word(int64_t(uint64_t(63) << v.lane)); }},
  {"prmt", "r", "prmt.b32 %r40, %r1, %r3, 0x7250;", [](V v) { return uint64_t((v.uc() >> 24) << 24 | (v.ua() >> 16 & 255) << 16 | (v.uc() >> 8 & 255) << 8 | (v.ua() & 255)); }},
  {"setp", "p", "setp.lt.s32 %p15, %r1, %r2;", [](V v) { return uint64_t(v.a < v.b); }},
  {"setp", "p", "setp.lo.u32 %p15, %r1, %r2;", [](V v) { return uint64_t(v.ua() < v.ub()); }},
  {"setp", "p", "setp.ge.or.f32 %p15, %f1, %f2, %p1;", [](V v) { return uint64_t(v.x >= v.y || v.odd); }},
  {"set", "r", "set.gt.u32.s32 %r40, %r1, %r2;", [](V v) { return v.a > v.b ? 0xFFFFFFFFull : 0; }},
  {"set", "f", "set.le.f32.f32 %f40, %f1, %f2;", [](V v) { return bits(v.x <= v.y ? 1.0f : 0.0f); }},
  {"selp", "r", "selp.b32 %r40, %r1, %r2, %p1;", [](V v) { return word(v.odd ? v.a : v.b); }},
  {"slct", "r", "slct.u32.s32 %r40, %r3, %r1, %r2;", [](V v) { return word(v.b >= 0 ? v.c : v.a); }},
  {"mov", "rd", "mov.b64 {%r10, %r11}, %rd1; mov.b64 %rd40, {%r11, %r10};", [](V v) { return uint64_t(v.A) << 32 | uint64_t(v.A) >> 32; }},
  {"mov", "r", "mov.u32 %r40, %laneid;", [](V v) { return uint64_t(v.lane); }},
  {"cvta", "r", "mov.u32 %r4, tile; cvt.u64.u32 %rd4, %r4; cvta.shared.u64 %rd5, %rd4; cvta.to.shared.u64 %rd6, %rd5; cvt.u32.u64 %r5, %rd6; mad.lo.u32 %r5, %r0, 4, %r5; st.shared.u32 [%r5], %r1;"
                "mad.wide.u32 %rd5, %r0, 4, %rd5; ld.u32 %r40, [%rd5];", [](V v) { return word(v.a); }, ".shared .align 4 .b8 tile[128];"},
  {"isspacep", "p", "mov.u32 %r4, tile; cvt.u64.u32 %rd4, %r4; cvta.shared.u64 %rd5, %rd4; selp.b64 %rd6, %rd5, %out, %p1; isspacep.shared %p15, %rd6;", [](V v) { return uint64_t(v.odd); },
   ".shared .align 4 .b8 tile[128];"},
  {"mapa", "r", "mov.u32 %r4, tile; mapa.shared::cluster.u32 %r5, %r4, 0; mad.lo.u32 %r5, %r0, 4, %r5; mad.lo.u32 %r6, %r0, 4, %r4; st.shared::cluster.u32 [%r5], %r1; ld.shared.u32 %r40, [%r6];", [](V v) { return word(v.a); },
   ".shared .align 4 .b8 tile[128];"},
  {"getctarank", "r", "mov.u32 %r4, tile; getctarank.shared::cluster.u32 %r40, %r4;", [](V) { return uint64_t(0); }, ".shared .align 4 .b8 tile[128];"},
  {"cvt", "r", "cvt.s32.s8 %r40, %r3;", [](V v) { return word(int8_t(v.uc())); }},
  {"cvt", "rd", "cvt.s64.s32 %rd40, %r1;", [](V v) { return uint64_t(int64_t(v.a)); }},
  {"cvt", "r", "cvt.rzi.s32.f32 %r40, %f1;", [](V v) { return word(int32_t(v.x)); }},
  {"cvt", "r", "cvt.rni.s32.f32 %r40, %f2;", [](V v) { return word(int32_t(std::nearbyint(v.y))); }},
  {"cvt", "r", "cvt.rmi.s32.f32 %r40, %f2;", [](V v) { return word(int32_t(std::floor(v.y))); }},
  {"cvt", "f", "cvt.rn.f32.u32 %f40, %r1;", [](V v) { return bits(float(v.ua())); }},
  {"cvt", "h", "cvt.rn.f16.f32 %h40, %f1;", [](V v) { return uint64_t(floatToHalf(v.x)); }},
  {"cvt", "h", "cvt.rn.bf16.f32 %h40, %f1;", [](V v) { return uint64_t(floatToBfloat(v.x)); }},
  {"cvt", "r", "cvt.rn.f16x2.f32 %r40, %f1, %f2;", [](V v) { return uint64_t(floatToHalf(v.x)) << 16 | floatToHalf(v.y); }},
  {"cvt", "h", "cvt.rn.satfinite.e4m3x2.f32 %h40, %f1, %f2;",
   [](V v) { return uint64_t(encodeFloat(formatE4M3, v.x, Rounding::NearestEven, true) << 8 | encodeFloat(formatE4M3, v.y, Rounding::NearestEven, true)); }},
  {"ld", "rd", "ld.s32 %rd40, [%in];", [](V v) { return uint64_t(int64_t(v.a)); }},
  {"ld", "r", "ld.global.v2.b32 {%r4, %r5}, [%in+8]; sub.u32 %r40, %r5, %r4;", [](V v) { return word((v.B >> 32) - v.b); }},
  {"ld", "r", "ld.global.nc.u16 %r40, [%in+2];", [](V v) { return uint64_t(v.ua() >> 16); }},
  {"ldu", "r", "ldu.global.u32 %r40, [%in+16];", [](V v) { return word(v.c); }},
  {"st", "r", "st.global.v2.b16 [%out+8], {%h1, %h2}; ld.global.u32 %r40, [%out+8];", [](V v) { return uint64_t(floatToHalf(v.y)) << 16 | floatToHalf(v.x); }},
  {"st", "r", "st.global.v2.b8 [%out+8], {%h1, 7}; ld.global.u16 %r40, [%out+8];", [](V v) { return uint64_t(0x700 | (floatToHalf(v.x) & 0xff)); }},
  {"st", "rd", "st.global.v4.b16 [%out+8], {-2, %r1, %r2, 3}; ld.global.u64 %rd40, [%out+8];",
   [](V v) { return uint64_t(0x0003) << 48 | uint64_t(v.b & 0xffff) << 32 | uint64_t(v.a & 0xffff) << 16 | 0xfffe; }},
  {"st", "rd", "st.global.v2.b32 [%out+8], {%rd1, -5}; ld.global.u64 %rd40, [%out+8];", [](V v) { return (v.A & 0xffffffff) | uint64_t(0xfffffffb) << 32; }},
  {"st", "r", "mov.u32 %r4, tile; mad.lo.u32 %r4, %r0, 4, %r4; st.shared.u32 [%r4], %r1; ld.shared.s8 %r40, [%r4];", [](V v) { return word(int8_t(v.a)); }, ".shared .align 4 .b8 tile[128];"},
  {"prefetch", "r", "prefetch.global.L2 [%in]; mov.u32 %r40, %r2;", [](V v) { return word(v.b); }},
  {"prefetchu", "r", "prefetchu.L1 [%in]; mov.u32 %r40, %r2;", [](V v) { return word(v.b); }},
  {"applypriority", "r", "applypriority.global.L2::evict_normal [%in], 128; mov.u32 %r40, %r2;", [](V v) { return word(v.b); }},
  {"discard", "r", "discard.global.L2 [%in], 128; mov.u32 %r40, %r2;", [](V v) { return word(v.b); }},
  {"createpolicy", "r", "createpolicy.fractional.L2::evict_last.b64 %rd4, 1.0; ld.global.L2::cache_hint.u32 %r40, [%in], %rd4;", [](V v) { return word(v.a); }},
  {"atom", "r", "st.global.u32 [%out+8], %r2; atom.global.add.u32 %r4, [%out+8], %r1; ld.global.u32 %r5, [%out+8]; mad.lo.u32 %r40, %r4, 5, %r5;",
   [](V v) { return word(int64_t(v.b) * 5 + v.a + v.b); }},
  {"atom", "r", "st.global.u32 [%out+8], %r2; atom.global.min.s32 %r4, [%out+8], %r1; ld.global.u32 %r40, [%out+8];", [](V v) { return word(std::min(v.a, v.b)); }},
  {"atom", "r", "st.global.u32 [%out+8], %r2; selp.u32 %r5, %r2, 12345, %p1; atom.global.cas.b32 %r4, [%out+8], %r5, %r1; ld.global.u32 %r40, [%out+8];",
   [](V v) { return word(v.odd ? v.a : v.b); }},
  {"red", "r", "st.global.u32 [%out+8], %r2; red.global.max.s32 [%out+8], %r1; ld.global.u32 %r40, [%out+8];", [](V v) { return word(std::max(v.a, v.b)); }},
  {"red", "f", "st.global.f32 [%out+8], %f2; red.global.add.f32 [%out+8], %f1; ld.global.f32 %f40, [%out+8];", [](V v) { return bits(v.x + v.y); }},
  {"shfl", "r", "shfl.sync.up.b32 %r40, %r1, 3, 0, -1;", [](V v) { return word(v.lane < 3 ? v.a : at(v.lane - 3).a); }},
  {"shfl", "r", "shfl.sync.down.b32 %r40, %r1, 5, 0x180f, -1;", [](V v) { return word(v.lane % 8 + 5 > 7 ? v.a : at(v.lane + 5).a); }},
  {"shfl", "r", "shfl.sync.bfly.b32 %r40, %r1, 9, 31, -1;", [](V v) { return word(at(v.lane ^ 9).a); }},
  {"shfl", "r", "mad.lo.u32 %r4, %r0, 7, 3; shfl.sync.idx.b32 %r40, %r1, %r4, 31, -1;", [](V v) { return word(at(v.lane * 7 + 3).a); }},
  {"vote", "r", "setp.gt.s32 %p2, %r2, 10; vote.sync.ballot.b32 %r40, %p2, -1;", [](V) { uint32_t m = 0; for (uint32_t l = 0; l < 32; ++l) m |= uint32_t(at(l).b > 10) << l; return uint64_t(m); }},
  {"vote", "p", "setp.lt.u32 %p2, %r0, 31; vote.sync.all.pred %p15, %p2, -1;", [](V) { return uint64_t(0); }},
  {"match", "r", "rem.u32 %r4, %r0, 5; match.any.sync.b32 %r40, %r4, -1;", [](V v) { uint32_t m = 0; for (uint32_t l = 0; l < 32; ++l) m |= uint32_t(l % 5 == v.lane % 5) << l; return uint64_t(m); }},
  {"activemask", "r", "mov.u32 %r40, 1; @!%p1 bra over; activemask.b32 %r40; over:", [](V v) { return v.odd ? 0xAAAAAAAAull : 1ull; }},
  {"redux", "r", "redux.sync.min.s32 %r40, %r1, -1;", [](V) { int32_t m = at(0).a; for (uint32_t l = 0; l < 32; ++l) m = std::min(m, at(l).a); return word(m); }},
  {"redux", "r", "redux.sync.xor.b32 %r40, %r3, -1;", [](V) { uint32_t m = 0; for (uint32_t l = 0; l < 32; ++l) m ^= at(l).uc(); return uint64_t(m); }},
  {"elect", "r", "mov.u32 %r4, 0xFFFFFFF0; mov.u32 %r40, 77; setp.lt.u32 %p2, %r0, 4; @%p2 bra over; elect.sync %r5|%p3, %r4; selp.u32 %r6, 100, 0, %p3; add.u32 %r40, %r5, %r6; over:",
   [](V v) { return v.lane < 4 ? 77ull : v.lane == 4 ? 104ull : 4ull; }},
  {"bar", "r", "mov.u32 %r4, tile; mad.lo.u32 %r5, %r0, 4, %r4; st.shared.u32 [%r5], %r1; bar.sync 0; xor.b32 %r6, %r0, 21; mad.lo.u32 %r5, %r6, 4, %r4; ld.shared.u32 %r40, [%r5];",
   [](V v) { return word(at(v.lane ^ 21).a); }, ".shared .align 4 .b8 tile[128];"},
  {"barrier", "r", "setp.gt.s32 %p2, %r2, 10; barrier.cta.red.popc.aligned.u32 %r40, 2, %p2;", [](V) { uint32_t n = 0; for (uint32_t l = 0; l < 32; ++l) n += at(l).b > 10; return uint64_t(n); }},
  {"membar", "r", "st.volatile.global.u32 [%out+8], %r1; membar.gl; ld.volatile.global.u32 %r40, [%out+8];", [](V v) { return word(v.a); }},
  {"fence", "r", "st.relaxed.gpu.global.u32 [%out+8], %r2; fence.acq_rel.gpu; fence.proxy.async; ld.relaxed.gpu.global.u32 %r40, [%out+8];", [](V v) { return word(v.b); }},
  {"griddepcontrol", "r", "griddepcontrol.wait; griddepcontrol.launch_dependents; mov.u32 %r40, %r1;", [](V v) { return word(v.a); }},
  {"bra", "r", "mov.u32 %r40, %r1; @%p1 bra over; mov.u32 %r40, %r2; over:", [](V v) { return word(v.odd ? v.a : v.b); }},
  {"brx", "r", "rem.u32 %r4, %r0, 3; t: .branchtargets A, B, C; brx.idx %r4, t; B: mov.u32 %r40, %r1; bra over; A: mov.u32 %r40, %r2; bra over; C: mov.u32 %r40, %r3; over:",
   [](V v) { return word(v.lane % 3 == 0 ? v.b : v.lane % 3 == 1 ? v.a : v.c); }},
  {"call", "r", "{ .param .b32 p0; .param .b32 q0; st.param.b32 [p0], %r1; call (q0), late, (p0); ld.param.b32 %r40, [q0]; }", [](V v) { return word(v.odd ? v.a * 3 : v.a - 1); },
   ".func (.param .b32 q) late(.param .b32 p) { .reg .b32 %r<4>; .reg .pred %p; ld.param.b32 %r1, [p]; and.b32 %r2, %r1, 0x80000000; setp.ne.u32 %p, %r2, 0; mul.lo.u32 %r3, %r1, 3;"
   " st.param.b32 [q], %r3; @%p ret; sub.u32 %r3, %r1, 1; st.param.b32 [q], %r3; ret; }"},
  {"ret", "r", "{ .param .b32 p0; .param .b32 q0; st.param.b32 [p0], %r2; call (q0), half, (p0); ld.param.b32 %r40, [q0]; }", [](V v) { return word(v.b > 0 ? v.b : 0); },
   ".func (.param .b32 q) half(.param .b32 p) { .reg .b32 %r<4>; .reg .pred %p; ld.param.b32 %r1, [p]; setp.gt.s32 %p, %r1, 0; st.param.b32 [q], %r1; @%p ret; st.param.b32 [q], 0; ret; }"},
  {"exit", "r", "mov.u32 %r40, %r1; setp.eq.u32 %p2, %r0, 30; st.global.u32 [%out], %r2; @%p2 exit;", [](V v) { return word(v.lane == 30 ? v.b : v.a); }},
  {"nanosleep", "r", "nanosleep.u32 20; mov.u32 %r40, %r1;", [](V v) { return word(v.a); }},
  {"pmevent", "r", "pmevent 3; mov.u32 %r40, %r1;", [](V v) { return word(v.a); }},
  {"movmatrix", "r", "movmatrix.sync.aligned.m8n8.trans.b16 %r40, %r3;",
   [](V v) { // row = lane / 4 of the result is column lane / 4 of the source
     auto element = [](uint32_t row, uint32_t column) { return at(row * 4 + column / 2).uc() >> (column % 2 * 16) & 0xFFFF; };
     uint32_t row = v.lane / 4, column = v.lane % 4 * 2;
     return uint64_t(element(column, row) | element(column + 1, row) << 16); }},
  {"ldmatrix", "r", "mov.u32 %r4, tile; mad.lo.u32 %r5, %r0, 4, %r4; st.shared.u32 [%r5], %r3; bar.warp.sync -1; and.b32 %r6, %r0, 7; mad.lo.u32 %r5, %r6, 16, %r4;"
                    "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r40}, [%r5];",
   [](V v) {
     auto element = [](uint32_t row, uint32_t column) { return at(row * 4 + column / 2).uc() >> (column % 2 * 16) & 0xFFFF; };
     uint32_t row = v.lane / 4, column = v.lane % 4 * 2;
     return uint64_t(element(column, row) | element(column + 1, row) << 16); }, ".shared .align 16 .b8 tile[128];"},
  {"stmatrix", "r", "mov.u32 %r4, tile; and.b32 %r6, %r0, 7; xor.b32 %r6, %r6, 3; mad.lo.u32 %r5, %r6, 16, %r4; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r5], {%r3}; bar.warp.sync -1;"
                    "mad.lo.u32 %r5, %r0, 4, %r4; ld.shared.u32 %r40, [%r5];",
   [](V v) { return uint64_t(at((v.lane / 4 ^ 3) * 4 + v.lane % 4).uc()); }, ".shared .align 16 .b8 tile[128];"},
  };
  return all;
}
// clang-format on

const Tested inThisFile = {"trap", "brkpt", "setmaxnreg"};

} // namespace

TEST_CASE("every instruction, lane by lane") {
  for (const Entry &entry : entries()) {
    std::string result = entry.result, body = R"(
    ld.u64 %rd1, [%in]; ld.u64 %rd2, [%in+8]; ld.u64 %rd3, [%in+16]; ld.f32 %f1, [%in+24]; ld.f32 %f2, [%in+28];
    ld.u32 %r1, [%in]; ld.u32 %r2, [%in+8]; ld.u32 %r3, [%in+16]; mov.f32 %f3, 0f3FA00000;
    cvt.f64.f32 %fd1, %f1; cvt.f64.f32 %fd2, %f2; cvt.rn.f16.f32 %h1, %f1; cvt.rn.f16.f32 %h2, %f2;
    and.b32 %r10, %r0, 1; setp.ne.u32 %p1, %r10, 0;
)";
    body += entry.body;
    body += result == "r"    ? "\n st.u32 [%out], %r40;"
            : result == "rd" ? "\n st.u64 [%out], %rd40;"
            : result == "f"  ? "\n st.f32 [%out], %f40;"
            : result == "fd" ? "\n st.f64 [%out], %fd40;"
            : result == "h"  ? "\n st.b16 [%out], %h40;"
                             : "\n selp.u32 %r40, 1, 0, %p15; st.u32 [%out], %r40;";
    std::vector<Input> inputs;
    for (uint32_t lane = 0; lane < 32; ++lane) {
      Values v = valuesOf(lane);
      inputs.push_back({{uint64_t(v.A), uint64_t(v.B), uint64_t(v.C), bits(v.x) | bits(v.y) << 32}});
    }
    INFO(entry.body);
    LaunchResult outcome;
    std::vector<Lane> lanes = runBody(body, inputs, entry.before, &outcome);
    CHECK(outcome.text() == "");
    for (uint32_t lane = 0; lane < 32; ++lane) {
      INFO("lane " << lane);
      CHECK(lanes[lane].word[0] == entry.expected(valuesOf(lane)));
    }
  }
}

TEST_CASE("no instruction is without a test") {
  std::set<std::string> tested = Tested::all();
  for (const Entry &entry : entries())
    tested.insert(entry.opcode);
  const char *known[] = {
#define OPCODE(NAME, DECODE) NAME,
#include "runtime/device/emulated/Opcodes.def"
#undef OPCODE
  };
  for (const char *name : known) {
    INFO(name << " is in Opcodes.def and has no test: add an entry to EveryOpcodeTest.cpp");
    CHECK(tested.erase(name) == 1);
  }
  for (const std::string &name : tested)
    FAIL(name << " has a test and is no instruction");
}

TEST_CASE("trap and brkpt end the launch") {
  for (const char *opcode : {"trap", "brkpt"}) {
    LaunchResult result;
    runBody(fmt::format("setp.eq.u32 %p1, %r0, 9; @%p1 {};", opcode), {}, "", &result);
    REQUIRE(result.failed);
    CHECK(result.findings[0].thread == 9);
    CHECK(result.text().find("executed a trap") != std::string::npos);
  }
}

TEST_CASE("setmaxnreg: registers move between warpgroups, and can't be had twice") {
  // 384 threads begin with 168 registers each: one group gives, two take.
  auto run = [](std::string_view producer, std::string_view consumer, unsigned threads = 384) {
    Machine machine(fmt::format(R"(
.visible .entry k() {{
  .reg .pred %p<4>; .reg .b32 %r<4>;
  mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 128; @%p1 bra producer;
  {}
  bra done;
producer:
  {}
done: ret; }})",
                                consumer, producer));
    return machine.launch("k", {.block = {threads, 1, 1}, .threads = 1}).text();
  };
  std::string give = "setmaxnreg.dec.sync.aligned.u32 40;", take = "setmaxnreg.inc.sync.aligned.u32 232;";
  CHECK(run(give, take) == "");
  std::string stuck = run("", take);
  CHECK(stuck.find("deadlock") != std::string::npos);
  CHECK(stuck.find("wait for registers that other warps have not given back") != std::string::npos);
  CHECK(run("setmaxnreg.dec.sync.aligned.u32 216;", "").find("more than the warp has") != std::string::npos);
  CHECK(run("setmaxnreg.inc.sync.aligned.u32 40;", "").find("fewer than the warp has") != std::string::npos);
  CHECK(run("", "setmaxnreg.dec.sync.aligned.u32 40;", 160).find("a warpgroup of four warps") != std::string::npos);
}

TEST_CASE("setmaxnreg: a block has what its launch gave it") {
  // 8 warps of 64 registers: there are no more, however large the file is.
  auto run = [](std::string_view first, std::string_view second) {
    Machine machine(fmt::format(R"(
.visible .entry k() .maxnreg 64 {{
  .reg .pred %p<4>; .reg .b32 %r<4>;
  mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 128; @%p1 bra one;
  {}
  bra done;
one:
  {}
done: ret; }})",
                                first, second));
    return machine.launch("k", {.block = {256, 1, 1}, .threads = 1}).text();
  };
  CHECK(run("setmaxnreg.dec.sync.aligned.u32 24;", "setmaxnreg.inc.sync.aligned.u32 104;") == "");
  CHECK(run("setmaxnreg.dec.sync.aligned.u32 24;", "setmaxnreg.inc.sync.aligned.u32 112;").find("deadlock") != std::string::npos);
  CHECK(run("setmaxnreg.dec.sync.aligned.u32 72;", "").find("more than the warp has: 64") != std::string::npos);
}
