// See LinearLayout.h. A map is its list of columns (images of the input bits); everything is elimination on 64-bit words.
#include "dialects/layout/LinearLayout.h"
#include <algorithm>
#include <bit>
#include <cassert>

namespace tk::layout {

static unsigned total(const std::vector<Dimension> &dims) {
  unsigned bits = 0;
  for (const Dimension &dim : dims)
    bits += dim.bits;
  return bits;
}

static const Dimension *find(const std::vector<Dimension> &dims, const std::string &name) {
  for (const Dimension &dim : dims)
    if (dim.name == name)
      return &dim;
  return nullptr;
}

static unsigned offsetOf(const std::vector<Dimension> &dims, const std::string &name) {
  unsigned bits = 0;
  for (const Dimension &dim : dims) {
    if (dim.name == name)
      return bits;
    bits += dim.bits;
  }
  assert(false && "no such dimension");
  return bits;
}

static uint64_t maskOf(unsigned bits) { return bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1; }

LinearLayout::LinearLayout(std::vector<Dimension> ins, std::vector<Dimension> outs, std::vector<uint64_t> bases) : inDims(std::move(ins)), outDims(std::move(outs)), columns(std::move(bases)) {
  assert(columns.size() == total(inDims) && total(inDims) <= 64 && total(outDims) <= 64);
}

LinearLayout LinearLayout::identity(const std::string &in, const std::string &out, unsigned bits) {
  std::vector<uint64_t> bases;
  for (unsigned i = 0; i < bits; ++i)
    bases.push_back(uint64_t(1) << i);
  return LinearLayout({{in, bits}}, {{out, bits}}, bases);
}

LinearLayout LinearLayout::zeros(const std::string &in, const std::string &out, unsigned bits) { return LinearLayout({{in, bits}}, {{out, 0}}, std::vector<uint64_t>(bits, 0)); }

bool LinearLayout::hasIn(const std::string &name) const { return find(inDims, name); }
bool LinearLayout::hasOut(const std::string &name) const { return find(outDims, name); }
unsigned LinearLayout::inBits(const std::string &name) const { return hasIn(name) ? find(inDims, name)->bits : 0; }
unsigned LinearLayout::outBits(const std::string &name) const { return hasOut(name) ? find(outDims, name)->bits : 0; }
unsigned LinearLayout::totalInBits() const { return total(inDims); }
unsigned LinearLayout::totalOutBits() const { return total(outDims); }
unsigned LinearLayout::inOffset(const std::string &name) const { return offsetOf(inDims, name); }
unsigned LinearLayout::outOffset(const std::string &name) const { return offsetOf(outDims, name); }

uint32_t LinearLayout::basis(const std::string &in, unsigned bit, const std::string &out) const {
  assert(bit < inBits(in));
  return uint32_t((columns[inOffset(in) + bit] >> outOffset(out)) & maskOf(outBits(out)));
}

uint64_t LinearLayout::apply(uint64_t in) const {
  uint64_t result = 0;
  for (; in; in &= in - 1)
    result ^= columns[std::countr_zero(in)];
  return result;
}

Coordinates LinearLayout::apply(const Coordinates &in) const {
  uint64_t flat = 0;
  for (const auto &[name, value] : in)
    flat |= uint64_t(value) << inOffset(name);
  uint64_t image = apply(flat);
  Coordinates result;
  for (const Dimension &dim : outDims)
    result.push_back({dim.name, uint32_t((image >> outOffset(dim.name)) & maskOf(dim.bits))});
  return result;
}

/// The bits of `value`, laid out by `from`, moved to where `to` has the same dimensions, each shifted up by `shift` of its name in `below`.
static uint64_t relocate(uint64_t value, const std::vector<Dimension> &from, const std::vector<Dimension> &to, const std::vector<Dimension> *below = nullptr) {
  uint64_t result = 0;
  unsigned offset = 0;
  for (const Dimension &dim : from) {
    uint64_t part = (value >> offset) & maskOf(dim.bits);
    if (part) {
      const Dimension *low = below ? find(*below, dim.name) : nullptr;
      result |= part << (offsetOf(to, dim.name) + (low ? low->bits : 0));
    }
    offset += dim.bits;
  }
  return result;
}

static std::vector<Dimension> merged(const std::vector<Dimension> &low, const std::vector<Dimension> &high) {
  std::vector<Dimension> result = low;
  for (const Dimension &dim : high) {
    auto same = std::find_if(result.begin(), result.end(), [&](const Dimension &d) { return d.name == dim.name; });
    if (same == result.end())
      result.push_back(dim);
    else
      same->bits += dim.bits;
  }
  return result;
}

LinearLayout LinearLayout::operator*(const LinearLayout &other) const {
  std::vector<Dimension> ins = merged(inDims, other.inDims), outs = merged(outDims, other.outDims);
  std::vector<uint64_t> bases;
  for (const Dimension &dim : ins) {
    for (unsigned i = 0; i < inBits(dim.name); ++i)
      bases.push_back(relocate(columns[inOffset(dim.name) + i], outDims, outs));
    for (unsigned i = 0; i < other.inBits(dim.name); ++i)
      bases.push_back(relocate(other.columns[other.inOffset(dim.name) + i], other.outDims, outs, &outDims));
  }
  return LinearLayout(ins, outs, bases);
}

std::optional<LinearLayout> LinearLayout::divideLeft(const LinearLayout &low) const {
  std::vector<Dimension> ins = inDims, outs = outDims;
  for (const Dimension &dim : low.inDims)
    if (inBits(dim.name) < dim.bits)
      return std::nullopt;
  for (const Dimension &dim : low.outDims)
    if (outBits(dim.name) < dim.bits)
      return std::nullopt;
  for (Dimension &dim : ins)
    dim.bits -= low.inBits(dim.name);
  for (Dimension &dim : outs)
    dim.bits -= low.outBits(dim.name);
  std::vector<uint64_t> bases;
  for (const Dimension &dim : ins)
    for (unsigned i = 0; i < dim.bits; ++i) {
      uint64_t image = 0;
      for (const Dimension &out : outs)
        if (out.bits)
          image |= uint64_t(basis(dim.name, i + low.inBits(dim.name), out.name) >> low.outBits(out.name)) << offsetOf(outs, out.name);
      bases.push_back(image);
    }
  LinearLayout high(ins, outs, bases);
  LinearLayout product = low * high;
  // The order of dimensions is this map's own; the function must be the same.
  std::vector<std::string> inNames, outNames;
  for (const Dimension &dim : inDims)
    inNames.push_back(dim.name);
  for (const Dimension &dim : outDims)
    outNames.push_back(dim.name);
  if (product.inDims.size() != inDims.size() || product.outDims.size() != outDims.size() || product.transposeIns(inNames).transposeOuts(outNames) != *this)
    return std::nullopt;
  return high;
}

LinearLayout LinearLayout::compose(const LinearLayout &outer) const {
  std::vector<uint64_t> bases;
  for (uint64_t column : columns)
    bases.push_back(outer.apply(relocate(column, outDims, outer.inDims)));
  return LinearLayout(inDims, outer.outDims, bases);
}

LinearLayout LinearLayout::invert() const {
  assert(isBijective());
  LinearLayout all = LinearLayout(outDims, outDims, [&] {
    std::vector<uint64_t> unit;
    for (unsigned i = 0; i < totalOutBits(); ++i)
      unit.push_back(uint64_t(1) << i);
    return unit;
  }());
  return all.invertAndCompose(*this);
}

LinearLayout LinearLayout::invertAndCompose(const LinearLayout &other) const {
  // Eliminate other's columns; each reduced column remembers which input bits it came from. Lower input bits are preferred, so free ones stay zero.
  struct Row {
    uint64_t image, from;
  };
  std::vector<Row> pivots;
  auto reduce = [&](uint64_t image, uint64_t &from) {
    for (const Row &pivot : pivots)
      if (image & std::bit_floor(pivot.image))
        image ^= pivot.image, from ^= pivot.from;
    return image;
  };
  for (unsigned i = 0; i < other.columns.size(); ++i) {
    uint64_t from = uint64_t(1) << i;
    uint64_t rest = reduce(other.columns[i], from);
    if (!rest)
      continue;
    pivots.push_back({rest, from});
    std::sort(pivots.begin(), pivots.end(), [](const Row &x, const Row &y) { return std::bit_floor(x.image) > std::bit_floor(y.image); });
  }
  std::vector<uint64_t> bases;
  for (uint64_t column : columns) {
    uint64_t from = 0;
    [[maybe_unused]] uint64_t rest = reduce(relocate(column, outDims, other.outDims), from);
    assert(rest == 0 && "the other map does not reach this output");
    bases.push_back(from);
  }
  return LinearLayout(inDims, other.inDims, bases);
}

static std::vector<Dimension> ordered(const std::vector<Dimension> &dims, const std::vector<std::string> &order) {
  std::vector<Dimension> result;
  for (const std::string &name : order)
    result.push_back(*find(dims, name));
  return result;
}

LinearLayout LinearLayout::transposeIns(const std::vector<std::string> &order) const {
  assert(order.size() == inDims.size());
  std::vector<Dimension> ins = ordered(inDims, order);
  std::vector<uint64_t> bases;
  for (const Dimension &dim : ins)
    for (unsigned i = 0; i < dim.bits; ++i)
      bases.push_back(columns[inOffset(dim.name) + i]);
  return LinearLayout(ins, outDims, bases);
}

LinearLayout LinearLayout::transposeOuts(const std::vector<std::string> &order) const {
  assert(order.size() == outDims.size());
  std::vector<Dimension> outs = ordered(outDims, order);
  std::vector<uint64_t> bases;
  for (uint64_t column : columns)
    bases.push_back(relocate(column, outDims, outs));
  return LinearLayout(inDims, outs, bases);
}

static std::vector<Dimension> renamed(std::vector<Dimension> dims, const std::string &from, const std::string &to) {
  for (Dimension &dim : dims)
    if (dim.name == from)
      dim.name = to;
  return dims;
}

LinearLayout LinearLayout::renameIn(const std::string &from, const std::string &to) const { return LinearLayout(renamed(inDims, from, to), outDims, columns); }
LinearLayout LinearLayout::renameOut(const std::string &from, const std::string &to) const { return LinearLayout(inDims, renamed(outDims, from, to), columns); }

LinearLayout LinearLayout::reshapeIns(std::vector<Dimension> dims) const {
  assert(total(dims) == totalInBits());
  return LinearLayout(std::move(dims), outDims, columns);
}

LinearLayout LinearLayout::reshapeOuts(std::vector<Dimension> dims) const {
  assert(total(dims) == totalOutBits());
  return LinearLayout(inDims, std::move(dims), columns);
}

LinearLayout LinearLayout::restrictIns(const std::vector<std::string> &names) const {
  std::vector<Dimension> ins;
  std::vector<uint64_t> bases;
  for (const Dimension &dim : inDims)
    if (std::find(names.begin(), names.end(), dim.name) != names.end()) {
      ins.push_back(dim);
      for (unsigned i = 0; i < dim.bits; ++i)
        bases.push_back(columns[inOffset(dim.name) + i]);
    }
  return LinearLayout(ins, outDims, bases);
}

LinearLayout LinearLayout::restrictOuts(const std::vector<std::string> &names) const {
  std::vector<Dimension> outs;
  for (const Dimension &dim : outDims)
    if (std::find(names.begin(), names.end(), dim.name) != names.end())
      outs.push_back(dim);
  std::vector<uint64_t> bases;
  for (uint64_t column : columns) {
    uint64_t image = 0;
    for (const Dimension &dim : outs)
      image |= ((column >> outOffset(dim.name)) & maskOf(dim.bits)) << offsetOf(outs, dim.name);
    bases.push_back(image);
  }
  return LinearLayout(inDims, outs, bases);
}

uint64_t LinearLayout::freeBits() const {
  std::vector<uint64_t> pivots; // leading bits distinct
  uint64_t free = 0;
  for (unsigned i = 0; i < columns.size(); ++i) {
    uint64_t rest = columns[i];
    for (uint64_t pivot : pivots)
      rest = std::min(rest, rest ^ pivot);
    if (rest) {
      pivots.push_back(rest);
      std::sort(pivots.rbegin(), pivots.rend());
    } else {
      free |= uint64_t(1) << i;
    }
  }
  return free;
}

unsigned LinearLayout::rank() const { return totalInBits() - unsigned(std::popcount(freeBits())); }

uint32_t LinearLayout::freeBits(const std::string &in) const { return uint32_t((freeBits() >> inOffset(in)) & maskOf(inBits(in))); }

unsigned LinearLayout::contiguousBits(const std::string &in, const std::string &out) const {
  unsigned count = 0, first = inOffset(in), place = outOffset(out);
  while (count < inBits(in) && count < outBits(out) && columns[first + count] == uint64_t(1) << (place + count))
    ++count;
  // Nobody else may move those output bits, or a vector's start would not be aligned.
  for (unsigned i = 0; i < columns.size(); ++i)
    if (i < first || i >= first + count)
      while (count && ((columns[i] >> place) & maskOf(count)))
        --count;
  return count;
}

std::string LinearLayout::toString() const {
  std::string text;
  for (const Dimension &dim : inDims) {
    text += " - " + dim.name + ":";
    for (unsigned i = 0; i < dim.bits; ++i) {
      text += " (";
      for (size_t k = 0; k < outDims.size(); ++k)
        text += (k ? ", " : "") + std::to_string(basis(dim.name, i, outDims[k].name));
      text += ")";
    }
    text += "\n";
  }
  text += "to";
  for (const Dimension &dim : outDims)
    text += " " + dim.name + "[" + std::to_string(uint64_t(1) << dim.bits) + "]";
  return text + "\n";
}

} // namespace tk::layout
