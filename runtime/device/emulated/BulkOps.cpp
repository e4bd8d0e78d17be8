// Bulk copies and reductions: PTX ISA 9.7.9.25.4 (cp.async.bulk, cp.reduce.async.bulk and their tensor forms, prefetches) and 9.7.9.25.5 (groups).
#include "runtime/device/emulated/AsyncState.h"
#include "runtime/device/emulated/BulkOperands.h"
#include "runtime/device/emulated/Launch.h"
#include "runtime/device/emulated/TensorMap.h"
#include <bit>
#include <fmt/format.h>

namespace tk::emulated {

namespace {

enum class Direction : uint32_t { GlobalToShared, SharedToShared, SharedToGlobal, Prefetch };
struct Shape {
  Direction direction : 2;
  uint32_t rank : 3;      // 0: not of a tensor
  uint32_t operation : 4; // of a reduction, plus one
  uint32_t multicasts : 1;
};
Shape shapeOf(const Instr &i) { return std::bit_cast<Shape>(i.target); }

// The list: the place in shared memory or of the target, that of the source or the map, the mbarrier's, the size, the mask of blocks, the coordinates.
constexpr size_t targetAt = 0, sourceAt = placeWords, barrierAt = 2 * placeWords, sizeAt = 3 * placeWords, maskAt = sizeAt + 1, coordinatesAt = maskAt + 1;

uint32_t sizeOf(Warp &warp, const Instr &i, int lane, const int32_t *list) {
  uint32_t bytes = warp.at<uint32_t>(list[sizeAt])[lane];
  if (bytes % 16 || bytes == 0)
    warp.fault(i, 1u << lane, fmt::format("a bulk copy of {} bytes: that must be a multiple of 16", bytes));
  return bytes;
}

void countGlobalRange(Warp &warp, uint64_t address, uint32_t bytes) {
  ++warp.statistics.globalRequests;
  warp.statistics.globalBytes += bytes;
  warp.statistics.globalSectors += ((address + bytes - 1) >> 5) - (address >> 5) + 1;
}

/// The blocks that the copy comes to: that of the address, or those of the mask at the same offsets.
std::vector<Block *> receivers(Warp &warp, const Instr &i, int lane, const int32_t *list, Block *addressed) {
  if (!shapeOf(i).multicasts)
    return {addressed};
  std::vector<Block *> result;
  uint32_t mask = warp.at<uint32_t>(list[maskAt])[lane] & 0xFFFF;
  if (!mask || mask >> warp.launch.clusterBlocks)
    warp.fault(i, 1u << lane, fmt::format("the mask 0x{:x} names blocks that the cluster of {} does not have, or none", mask, warp.launch.clusterBlocks));
  for (uint32_t rank = 0; rank < warp.launch.clusterBlocks; ++rank)
    if (mask >> rank & 1)
      result.push_back(warp.block.cluster.blocks[rank].get());
  return result;
}

void toShared(Warp &warp, const Instr &i, int lane, const int32_t *list) {
  Shape shape = shapeOf(i);
  Transfer transfer;
  transfer.instr = &i;
  transfer.warp = &warp;
  transfer.lane = lane;
  uint32_t bytes, extent, align = shape.rank ? 128 : 16;
  TensorMap map;
  int32_t coordinates[5];
  if (shape.rank) {
    map = tensorMapAt(warp, i, addressAt(warp, list + sourceAt, lane), lane, shape.rank);
    for (uint32_t d = 0; d < shape.rank; ++d)
      coordinates[d] = warp.at<int32_t>(list[coordinatesAt + d])[lane];
    bytes = boxBytes(map);
    extent = boxExtent(map);
    transfer.fill = fillPattern(map);
  } else {
    bytes = extent = sizeOf(warp, i, lane, list);
  }
  SharedPlace target = sharedAt(warp, i, list + targetAt, lane, extent, align), barrier = sharedAt(warp, i, list + barrierAt, lane, 8, 8);
  if (barrier.block != target.block)
    warp.fault(i, 1u << lane, "the mbarrier is in another block's shared memory than the target", Finding::Cause::Address);
  uint64_t from = 0;
  if (shape.direction == Direction::SharedToShared) {
    SharedPlace source = sharedAt(warp, i, list + sourceAt, lane, bytes, 16);
    if (source.block != &warp.block)
      warp.fault(i, 1u << lane, "the source is in another block's shared memory", Finding::Cause::Address);
    from = reinterpret_cast<uint64_t>(source.block->shared.at(source.offset));
  } else if (!shape.rank) {
    from = globalAt(warp, i, addressAt(warp, list + sourceAt, lane), lane, bytes, 16, false);
    countGlobalRange(warp, from, bytes);
  }
  for (Block *block : receivers(warp, i, lane, list, target.block)) {
    size_t first = transfer.pieces.size();
    if (shape.rank)
      addBoxPieces(warp, i, lane, map, coordinates, *block, target.offset, false, transfer.pieces);
    else
      transfer.pieces.push_back({from, reinterpret_cast<uint64_t>(block->shared.at(target.offset)), bytes});
    addTargets(transfer, *block, first);
    transfer.arrivals.push_back({block, barrier.offset, bytes});
  }
  if (shape.direction == Direction::SharedToShared)
    beginSourceRead(transfer);
  if (shape.operation) {
    transfer.reduction = AtomicOperation(shape.operation - 1);
    transfer.type = i.type;
  }
  startTransfer(std::move(transfer));
}

void toGlobal(Warp &warp, const Instr &i, int lane, const int32_t *list) {
  Shape shape = shapeOf(i);
  Transfer transfer;
  transfer.instr = &i;
  transfer.warp = &warp;
  transfer.lane = lane;
  transfer.isOfGroup = true;
  transfer.group = warp.async->committedBulk[size_t(lane)];
  transfer.type = i.type;
  uint32_t extent;
  SharedPlace source;
  if (shape.rank) {
    TensorMap map = tensorMapAt(warp, i, addressAt(warp, list + targetAt, lane), lane, shape.rank);
    int32_t coordinates[5];
    for (uint32_t d = 0; d < shape.rank; ++d)
      coordinates[d] = warp.at<int32_t>(list[coordinatesAt + d])[lane];
    extent = boxExtent(map);
    source = sharedAt(warp, i, list + sourceAt, lane, extent, 128);
    addBoxPieces(warp, i, lane, map, coordinates, *source.block, source.offset, true, transfer.pieces);
    transfer.type = elementTypeOf(map);
  } else {
    extent = sizeOf(warp, i, lane, list);
    source = sharedAt(warp, i, list + sourceAt, lane, extent, 16);
    uint64_t to = globalAt(warp, i, addressAt(warp, list + targetAt, lane), lane, extent, 16, true);
    countGlobalRange(warp, to, extent);
    transfer.pieces.push_back({reinterpret_cast<uint64_t>(source.block->shared.at(source.offset)), to, extent});
  }
  if (source.block != &warp.block)
    warp.fault(i, 1u << lane, "the source is in another block's shared memory", Finding::Cause::Address);
  if (shape.operation)
    transfer.reduction = AtomicOperation(shape.operation - 1);
  beginSourceRead(transfer);
  startTransfer(std::move(transfer));
}

void prefetch(Warp &warp, const Instr &i, int lane, const int32_t *list) {
  if (uint32_t rank = shapeOf(i).rank) {
    tensorMapAt(warp, i, addressAt(warp, list + sourceAt, lane), lane, rank);
    return;
  }
  globalAt(warp, i, addressAt(warp, list + sourceAt, lane), lane, sizeOf(warp, i, lane, list), 16, false);
}

void bulk(Warp &warp, const Instr &i, uint32_t mask) {
  const int32_t *list = warp.listOf(i);
  forEachLane(mask, [&](int lane) {
    switch (shapeOf(i).direction) {
    case Direction::GlobalToShared:
    case Direction::SharedToShared: return toShared(warp, i, lane, list);
    case Direction::SharedToGlobal: return toGlobal(warp, i, lane, list);
    case Direction::Prefetch: return prefetch(warp, i, lane, list);
    }
  });
}

void commit(Warp &warp, const Instr &, uint32_t mask) {
  forEachLane(mask, [&](int lane) { ++warp.async->committedBulk[size_t(lane)]; });
}
void wait(Warp &warp, const Instr &i, uint32_t mask) { finishBulkGroups(warp, mask, uint64_t(i.imm), i.flags & 1); }

/// The types of each operation of cp.reduce.async.bulk (its table of types); those of global memory alone are the floats and the signed 64 bits of min and max.
bool isReduction(AtomicOperation operation, Type type, bool toGlobal) {
  bool is32 = type == Type::U32 || type == Type::S32, isHalf = type == Type::F16 || type == Type::BF16;
  switch (operation) {
  case AtomicOperation::And:
  case AtomicOperation::Or:
  case AtomicOperation::Xor: return type == Type::B32 || (toGlobal && type == Type::B64);
  case AtomicOperation::Inc:
  case AtomicOperation::Dec: return type == Type::U32;
  case AtomicOperation::Add: return is32 || type == Type::U64 || (toGlobal && (isHalf || type == Type::F32 || type == Type::F64));
  case AtomicOperation::Min:
  case AtomicOperation::Max: return is32 || (toGlobal && (type == Type::U64 || type == Type::S64 || isHalf));
  default: return false;
  }
}

/// `[map, {coordinates}]`: the operand's parts are the map's address and the vector.
void pushCoordinates(Decoding &d, size_t operand, uint32_t rank, std::vector<int32_t> &list) {
  const Operand &address = d.operand(operand);
  if (address.kind != Operand::Kind::Address || address.parts.size() != 1 || address.parts[0].kind != Operand::Kind::Vector ||
      address.parts[0].parts.size() != rank)
    d.fail(fmt::format("{} coordinates belong in braces behind the tensor map", rank));
  for (const Operand &part : address.parts[0].parts)
    list.push_back(d.source(part, Type::S32));
}

} // namespace

void decodeBulk(Decoding &d, bool reduces) {
  d.i.kind = Class::Async;
  if (!reduces && d.take("commit_group")) {
    d.expectOperands(0, 0);
    d.i.run = &commit;
    return;
  }
  if (!reduces && d.take("wait_group")) {
    d.expectOperands(1, 1);
    d.i.flags = d.take("read");
    d.i.imm = d.integer(0);
    d.i.run = &wait;
    return;
  }
  Shape shape = {};
  bool isPrefetch = !reduces && d.take("prefetch");
  if (d.take("tensor")) {
    int rank = d.takeOneOf({"1d", "2d", "3d", "4d", "5d"});
    if (rank < 0)
      d.fail("the number of dimensions is missing");
    shape.rank = uint32_t(rank + 1);
    d.take("tile");
  }
  for (std::string_view word : d.statement.modifiers)
    if (word.starts_with("im2col") || word.starts_with("tile::") || word.starts_with("cta_group"))
      d.fail("of the modes of tensor copies only .tile is supported");
  if (isPrefetch) {
    if (!d.take("L2"))
      d.fail(".L2 is missing");
    d.take("global");
    shape.direction = Direction::Prefetch;
  } else {
    // The order of the two spaces is what tells the direction.
    std::vector<std::string_view> spaces;
    for (std::string_view word : d.statement.modifiers)
      if (word == "global" || word == "shared::cta" || word == "shared::cluster")
        spaces.push_back(word);
    for (std::string_view word : spaces)
      d.take(word);
    bool fine = spaces.size() == 2;
    bool fromShared = fine && spaces[1] == "shared::cta";
    fine = fine && (fromShared || spaces[1] == "global");
    fine = fine && (spaces[0] == "global" ? fromShared : !(fromShared && (shape.rank || spaces[0] != "shared::cluster")));
    if (!fine)
      d.fail("no such pair of state spaces");
    shape.direction = spaces[0] == "global" ? Direction::SharedToGlobal : fromShared ? Direction::SharedToShared : Direction::GlobalToShared;
    bool groups = d.take("bulk_group"), barrier = d.take("mbarrier::complete_tx::bytes");
    if (groups == barrier || groups != (shape.direction == Direction::SharedToGlobal))
      d.fail("copies to global memory complete with .bulk_group, others with .mbarrier::complete_tx::bytes");
  }
  shape.multicasts = d.take("multicast::cluster");
  if (shape.multicasts && (reduces || shape.direction != Direction::GlobalToShared))
    d.fail("only copies from global to shared memory have .multicast::cluster");
  if (reduces) {
    static constexpr std::pair<std::string_view, AtomicOperation> operations[] = {
        {"and", AtomicOperation::And}, {"or", AtomicOperation::Or},   {"xor", AtomicOperation::Xor}, {"add", AtomicOperation::Add},
        {"inc", AtomicOperation::Inc}, {"dec", AtomicOperation::Dec}, {"min", AtomicOperation::Min}, {"max", AtomicOperation::Max}};
    for (auto [name, operation] : operations)
      if (!shape.operation && d.take(name))
        shape.operation = uint32_t(operation) + 1;
    d.take("noftz");
    if (!shape.rank) {
      d.i.type = d.takeType();
      if (!shape.operation || !isReduction(AtomicOperation(shape.operation - 1), d.i.type, shape.direction == Direction::SharedToGlobal))
        d.fail("this combination of types and modifiers is not supported");
    }
    if (!shape.operation || shape.direction == Direction::GlobalToShared)
      d.fail("the operation is missing, or the source is not in shared memory");
  }
  bool hint = d.take("L2::cache_hint");
  std::vector<int32_t> list;
  int32_t size = -1, mask = -1;
  std::vector<int32_t> nowhere(placeWords, -1);
  size_t at = 0;
  Space target = shape.direction == Direction::SharedToGlobal ? Space::Global : Space::SharedCluster;
  Space source = shape.direction == Direction::GlobalToShared || isPrefetch ? Space::Global : Space::SharedCluster;
  size_t mapAt = isPrefetch || shape.direction == Direction::SharedToGlobal ? 0 : 1;
  if (isPrefetch)
    list = nowhere;
  else
    pushPlace(d, at++, target, list);
  pushPlace(d, at++, source, list);
  if (!shape.rank)
    size = d.source(at++, Type::U32);
  if (!isPrefetch && shape.direction != Direction::SharedToGlobal)
    pushPlace(d, at++, Space::SharedCluster, list);
  else
    list.insert(list.end(), nowhere.begin(), nowhere.end());
  if (shape.multicasts)
    mask = d.source(at++, Type::U16);
  if (hint)
    d.source(at++, Type::B64);
  d.expectOperands(at, at);
  list.insert(list.end(), {size, mask});
  if (shape.rank)
    pushCoordinates(d, mapAt, shape.rank, list);
  d.list(list);
  d.i.target = std::bit_cast<uint32_t>(shape);
  d.i.run = &bulk;
}

} // namespace tk::emulated
