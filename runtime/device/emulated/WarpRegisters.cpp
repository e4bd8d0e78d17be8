// Values that a frame's constant registers take, and what a warp reports.
#include "runtime/device/emulated/Block.h"
#include "runtime/device/emulated/Launch.h"
#include "runtime/device/emulated/Warp.h"
#include <bit>
#include <cstring>

namespace tk::emulated {

void Warp::fill(Frame &into, const Constant &constant) {
  auto all = [&](uint64_t value, uint64_t high = 0) {
    uint8_t *to = into.registers + constant.offset;
    for (int lane = 0; lane < 32; ++lane) {
      if (constant.bytes == 4) {
        uint32_t word = uint32_t(value);
        std::memcpy(to + lane * 4, &word, 4);
      } else {
        std::memcpy(to + lane * constant.bytes, &value, 8);
        if (constant.bytes == 16)
          std::memcpy(to + lane * 16 + 8, &high, 8);
      }
    }
  };
  auto each = [&](auto f) {
    for (uint32_t lane = 0; lane < 32; ++lane) {
      uint64_t value = f(lane);
      std::memcpy(into.registers + constant.offset + lane * constant.bytes, &value, constant.bytes);
    }
  };
  const std::array<uint32_t, 3> &threads = launch.spec.block, &grid = launch.spec.grid;
  const std::array<uint32_t, 3> &cluster = launch.clusterShape;
  int part = constant.part;
  auto pick = [&](const std::array<uint32_t, 3> &of, uint32_t otherwise) { return part < 3 ? of[size_t(part)] : otherwise; };
  using Kind = Constant::Kind;
  switch (constant.kind) {
  case Kind::Bits: return all(constant.value, constant.high);
  case Kind::SharedVariable: {
    const Variable &variable = launch.module.parsed->variables[size_t(constant.part)];
    uint32_t offset = variable.isExtern ? launch.kernel.dynamicBase : launch.kernel.sharedOffsets.at(constant.part);
    return all((uint64_t(block.rank) << 24 | offset) + constant.value);
  }
  case Kind::LocalVariable: return all(into.localBase + constant.value);
  case Kind::KernelParam: return all(launch.parameterBase + constant.value);
  case Kind::ThreadId:
    return each([&](uint32_t lane) -> uint64_t {
      uint32_t thread = index * 32 + lane;
      return part == 0 ? thread % threads[0] : part == 1 ? thread / threads[0] % threads[1] : part == 2 ? thread / threads[0] / threads[1] : 0;
    });
  case Kind::BlockThreads: return all(pick(threads, 0));
  case Kind::BlockId: return all(pick(block.id, 0));
  case Kind::GridBlocks: return all(pick(grid, 0));
  case Kind::LaneId: return each([](uint32_t lane) -> uint64_t { return lane; });
  case Kind::WarpId: return all(index);
  case Kind::Warps: return all(64);
  case Kind::SmId: return all((block.id[0] + block.id[1] * grid[0]) % EmulatedDevice::multiprocessors);
  case Kind::Sms: return all(EmulatedDevice::multiprocessors);
  case Kind::GridId: return all(launch.gridId);
  case Kind::LaneMask:
    return each([&](uint32_t lane) -> uint64_t {
      uint32_t below = (1u << lane) - 1, self = 1u << lane;
      switch (part) {
      case 0: return self;
      case 1: return below | self;
      case 2: return below;
      case 3: return ~below;
      default: return ~(below | self);
      }
    });
  case Kind::ClusterId: return all(pick(block.cluster.id, 0));
  case Kind::Clusters: return all(pick(launch.clusterGrid, 0));
  case Kind::ClusterBlockId: return all(part < 3 ? block.id[part] % cluster[part] : 0);
  case Kind::ClusterBlocks: return all(pick(cluster, 0));
  case Kind::ClusterRank: return all(block.rank);
  case Kind::ClusterSize: return all(launch.clusterBlocks);
  case Kind::ClusterExplicit: return all(launch.clusterBlocks > 1);
  case Kind::DynamicShared: return all(launch.spec.dynamicShared);
  case Kind::TotalShared: return all(launch.sharedBytes);
  }
}

void Warp::fault(const Instr &i, uint32_t lanes, std::string message, Finding::Cause cause) {
  Finding finding;
  finding.cause = cause;
  finding.message = std::move(message);
  std::copy(block.id.begin(), block.id.end(), finding.block);
  finding.thread = threadOf(lanes ? std::countr_zero(lanes) : 0);
  launch.locate(finding, *frame->function, i);
  throw LaunchFault{std::move(finding)};
}

void Warp::report(Finding::Kind kind, const Instr &i, uint32_t lanes, std::string message) {
  Finding finding;
  finding.kind = kind;
  finding.message = std::move(message);
  std::copy(block.id.begin(), block.id.end(), finding.block);
  finding.thread = threadOf(lanes ? std::countr_zero(lanes) : 0);
  launch.locate(finding, *frame->function, i);
  launch.add(std::move(finding));
}

} // namespace tk::emulated
