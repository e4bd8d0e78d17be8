// Decoded code: what the warps execute.
//
// Registers of a warp lie lane by lane in one array: 32 words of 4 bytes for types of up to 32 bits (narrower ones zero-extended), of 8 bytes for 64 bits, of
// 16 for 128; a predicate is one word with a bit a lane. Immediates, addresses of variables and special registers that don't change are registers too, filled
// when a function is entered, so that an operand is nothing but an offset and an instruction one loop over lanes.
#pragma once
#include "runtime/device/emulated/Ptx.h"
#include <array>
#include <tuple>

namespace tk::emulated {

class Warp;
struct Instr;

/// Executes an instruction for the lanes of `mask`, which is not empty.
using Handler = void (*)(Warp &, const Instr &, uint32_t mask);

/// What the scheduler does after an instruction that touches control flow or waits.
enum class Outcome : uint8_t {
  Next,    // go on behind it
  Jumped,  // the groups of the warp have changed
  Blocked, // the lanes wait at it, or behind it when the controller has moved them on
  Yield    // go on behind it, but let others run first
};
using Controller = Outcome (*)(Warp &, const Instr &, uint32_t mask);

/// Classes of instructions that statistics tell apart.
enum class Class : uint8_t {
  Move,
  Integer,
  Float,
  Double,
  Half,
  Compare,
  Convert,
  Special,
  Warp,
  Control,
  Barrier,
  Parameter,
  Global,
  Shared,
  Local,
  Atomic,
  Matrix,
  Async,
  Count
};
const char *nameOf(Class kind);

struct Instr {
  Handler run = nullptr;
  Controller control = nullptr; // where there is one it is called instead of `run`, which it may call
  int32_t guard = -1;
  int32_t d = -1, d2 = -1, a = -1, b = -1, c = -1, e = -1; // offsets of registers; -1 where there is none
  int64_t imm = 0;
  uint32_t target = 0; // of branches
  uint32_t list = 0;   // of further operands: in Function::lists
  uint32_t flags = 0;
  uint16_t count = 0;
  Class kind = Class::Move;
  Type type = Type::None;
  Space space = Space::Generic;
  bool guardNegated = false;
  bool isCollective = false; // needs the lanes of `e` (a membermask), or with e < 0 all lanes, at once
  uint32_t touches = 0;      // in Function::touched; 0: nothing
  uint32_t number = 0;       // of a store to global memory, from 1 on in the module
  uint32_t line = 0, place = 0;
};

/// How a register that never changes gets its value when a function is entered.
struct Constant {
  enum class Kind : uint8_t {
    Bits,
    SharedVariable,
    LocalVariable,
    ThreadId,
    BlockThreads,
    BlockId,
    GridBlocks,
    LaneId,
    WarpId,
    Warps,
    SmId,
    Sms,
    GridId,
    LaneMask,
    ClusterId,
    Clusters,
    ClusterBlockId,
    ClusterBlocks,
    ClusterRank,
    ClusterSize,
    ClusterExplicit,
    DynamicShared,
    TotalShared,
    KernelParam
  } kind = Kind::Bits;
  uint8_t bytes = 4; // of a lane
  int part = 0;      // x y z, which lane mask, or the variable
  int32_t offset = 0;
  uint64_t value = 0, high = 0;
  auto key() const { return std::tuple(kind, bytes, part, value, high); }
};

/// In Instr::flags of bar.warp.sync: its lanes may be at different places.
constexpr uint32_t warpBarrierFlag = 1u << 31;

struct ParameterPlace {
  uint32_t offset = 0, bytes = 0, align = 1;
};

struct Function {
  std::string name;
  bool isEntry = false, isDefined = false;
  std::vector<Instr> code;
  std::vector<int32_t> lists;
  std::vector<std::vector<uint32_t>> branchTables;
  std::vector<Constant> constants;
  uint32_t frameBytes = 0;                // registers of a warp
  uint32_t localBytes = 0;                // of a lane: .local variables and parameters of calls
  std::vector<ParameterPlace> parameters; // of a kernel: offsets in the buffer; of a function: in its local memory
  std::vector<ParameterPlace> results;
  uint32_t parameterBytes = 0;
  // Of a kernel: where each shared variable lies, and the bytes of those with a size.
  std::map<int, uint32_t> sharedOffsets;
  uint32_t staticShared = 0, dynamicBase = 0;
  uint32_t maxThreads[3] = {0, 0, 0}, requiredThreads[3] = {0, 0, 0}, requiredCluster[3] = {0, 0, 0};
  uint32_t maxRegisters = 0;                 // .maxnreg; 0: not given
  std::vector<int> sharedVariables, callees; // that the code names
  bool callsIndirectly = false;
  // Registers that some wgmma accumulates in or takes A from, by offset, numbered; and which of them other instructions name: lists that begin with their
  // length.
  std::map<int32_t, uint32_t> wgmmaRegisters;
  std::vector<uint32_t> touched = {0};
};

/// Where shared memory of a block begins in its window: the first KiB is the system's on sm_80 and later (CUDA Programming Guide, compute capabilities).
constexpr uint32_t sharedBase = 1024;
/// Windows of generic addresses. Global, constant and kernel parameters are the host's own addresses; shared is (rank in the cluster << 24 | offset).
constexpr uint64_t sharedWindow = 0x1000000000000000, localWindow = 0x2000000000000000, functionWindow = 0x3000000000000000, windowMask = 0xF000000000000000;

} // namespace tk::emulated
