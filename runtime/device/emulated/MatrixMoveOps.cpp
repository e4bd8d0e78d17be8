// ldmatrix, stmatrix and movmatrix: PTX ISA 9.7.14.5.15 to 9.7.14.5.17. Matrices of 8 x 8 elements of 16 bits; lane l holds row l / 4, columns 2 * (l % 4) and
// the next; with .trans row and column change places. Lanes 8 * j to 8 * j + 7 give the addresses of the rows of matrix j.
#include "runtime/device/emulated/Lanes.h"
#include "runtime/device/emulated/MemoryAccess.h"

namespace tk::emulated {

namespace {

template <bool Store> void moveMatrices(Warp &warp, const Instr &i, uint32_t) {
  LaneAddresses addresses;
  uint32_t rows = i.count * 8u, mask = rows == 32 ? ~0u : (1u << rows) - 1;
  addressesOf(warp, i, i.a, mask, addresses);
  if (i.space == Space::Generic) {
    ByWindow lanes = splitByWindow(warp, i, mask, addresses);
    if (lanes.shared != mask)
      warp.fault(i, mask & ~lanes.shared, "a row that is not in shared memory", Finding::Cause::Address);
  }
  const int32_t *list = warp.listOf(i);
  bool transposed = i.flags & 1;
  if (Store)
    warp.noteEffect();
  for (uint32_t matrix = 0; matrix < i.count; ++matrix) {
    countShared(warp, 0xFFu << (matrix * 8), addresses, 16);
    uint16_t *row[8];
    for (uint32_t r = 0; r < 8; ++r) {
      int lane = int(matrix * 8 + r);
      Block &block = sharedBlock(warp, i, lane, addresses.address[lane], 16, 16);
      if (&block != &warp.block)
        warp.fault(i, 1u << lane, "the row is in another block's shared memory", Finding::Cause::Address);
      uint32_t offset = sharedOffset(addresses.address[lane]);
      block.shared.note(warp, i, SharedMemory::manyLanes, offset, 16, Store ? Access::Write : Access::Read);
      row[r] = reinterpret_cast<uint16_t *>(block.shared.at(offset));
    }
    uint32_t *registers = warp.at<uint32_t>(list[matrix]);
    for (uint32_t lane = 0; lane < 32; ++lane) {
      uint32_t x = lane / 4, y = lane % 4 * 2;
      uint16_t *low = transposed ? &row[y][x] : &row[x][y], *high = transposed ? &row[y + 1][x] : &row[x][y + 1];
      if (Store) {
        *low = uint16_t(registers[lane]);
        *high = uint16_t(registers[lane] >> 16);
      } else {
        registers[lane] = *low | uint32_t(*high) << 16;
      }
    }
  }
}

void transposeRegisters(Warp &warp, const Instr &i, uint32_t) {
  uint16_t matrix[8][8];
  const uint32_t *a = warp.at<uint32_t>(i.a);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    matrix[lane / 4][lane % 4 * 2] = uint16_t(a[lane]);
    matrix[lane / 4][lane % 4 * 2 + 1] = uint16_t(a[lane] >> 16);
  }
  for (uint32_t lane = 0; lane < 32; ++lane)
    warp.at<uint32_t>(i.d)[lane] = matrix[lane % 4 * 2][lane / 4] | uint32_t(matrix[lane % 4 * 2 + 1][lane / 4]) << 16;
}

template <bool Store> void decodeMoveMatrix(Decoding &d) {
  if (!d.take("sync") || !d.take("aligned") || !d.take("m8n8"))
    d.fail("only .sync.aligned.m8n8 is supported");
  int count = d.takeOneOf({"x1", "x2", "x4"});
  bool transposed = d.take("trans");
  int space = d.takeOneOf({"shared", "shared::cta"});
  Type type = d.takeType();
  if (count < 0 || type != Type::B16)
    d.fail("this combination of types and modifiers is not supported");
  d.expectOperands(2, 2);
  d.i.space = space < 0 ? Space::Generic : Space::Shared;
  d.i.a = d.address(d.operand(Store ? 0 : 1), d.i.space);
  const Operand &data = d.operand(Store ? 1 : 0);
  std::span<const Operand> parts(&data, 1);
  if (data.kind == Operand::Kind::Vector)
    parts = data.parts;
  if (parts.size() != size_t(1) << count)
    d.fail("the number of registers is not that of the matrices");
  std::vector<int32_t> offsets;
  for (const Operand &part : parts)
    offsets.push_back(Store ? d.source(part, Type::B32) : d.destination(part, Type::B32));
  d.list(offsets);
  d.i.flags |= transposed;
  d.i.kind = Class::Shared;
  d.i.isCollective = true;
  d.i.run = &moveMatrices<Store>;
}

} // namespace

void decodeLdmatrix(Decoding &d) { decodeMoveMatrix<false>(d); }
void decodeStmatrix(Decoding &d) { decodeMoveMatrix<true>(d); }

void decodeMovmatrix(Decoding &d) {
  if (!d.take("sync") || !d.take("aligned") || !d.take("m8n8") || !d.take("trans") || d.takeType() != Type::B16)
    d.fail("only .sync.aligned.m8n8.trans.b16 exists");
  d.expectOperands(2, 2);
  d.i.d = d.destination(0, Type::B32);
  d.i.a = d.source(1, Type::B32);
  d.i.kind = Class::Warp;
  d.i.isCollective = true;
  d.i.run = &transposeRegisters;
}

} // namespace tk::emulated
