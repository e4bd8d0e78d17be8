// Loads and stores whose masks end within vectors: vectors for which the mask is true throughout go whole, those with an edge element by element.
//
//   load of 8 x 16 bits, mask `i < n`:     @(i7 < n)  ld.v4.b32 w                     a vector of the thread
//                                          @!(any vector has an edge) bra done        hardly any warp comes further
//                                          each vector: @(i0 < n and not i7 < n):  each k: @(ik < n) ld.b16 e<k>;  w = e
//                                    done:
//
// Few vectors of a tile have an edge (MaskEdges.h), so the code for them is stepped over by all warps but one or two. It is behind the whole vectors, and its
// loads go into registers of their own: nothing in it waits for what is under way before its loads are issued.
#include "compiler/analysis/MaskEdges.h"
#include "compiler/layout/AccessLayout.h"
#include "compiler/lower/GpuEmitter.h"
#include "compiler/lower/GpuRemarks.h"

using namespace llvm;
using tk::compiler::MaskEdge;
namespace tk::lower {

SmallVector<GpuEmitter::Edge> GpuEmitter::edgesOf(mlir::Operation *access, unsigned vector, unsigned count) {
  unsigned axis = compiler::accessWidth(access, ttg::layoutOf(access->getOperand(0).getType()), *axes).axis;
  SmallVector<Edge> edges;
  SmallVector<mlir::Value> conjuncts = compiler::conjunctsOf(compiler::maskOf(access));
  for (unsigned first = 0; first < count; first += vector) {
    Value *whole = nullptr, *some = nullptr;
    for (mlir::Value conjunct : conjuncts) {
      ArrayRef<Value *> masks = ArrayRef<Value *>(registers(conjunct)).slice(first, vector);
      switch (compiler::maskEdge(conjunct, axis, vector, *axes)) {
      case MaskEdge::Uniform: whole = bothOf(whole, masks.front()), some = bothOf(some, masks.front()); break;
      case MaskEdge::Falls: whole = bothOf(whole, masks.back()), some = bothOf(some, masks.front()); break;
      case MaskEdge::Rises: whole = bothOf(whole, masks.front()), some = bothOf(some, masks.back()); break;
      default: {
        whole = bothOf(whole, bothOf(masks.front(), masks.back()));
        Value *any = masks.front();
        for (Value *mask : masks.drop_front())
          any = b.CreateOr(any, mask);
        some = bothOf(some, any);
      }
      }
    }
    edges.push_back({whole, b.CreateAnd(some, b.CreateNot(whole))});
  }
  return edges;
}

/// Of the comparisons that have edges.
static CmpInst::Predicate predicateOf(mlir::arith::CmpIPredicate predicate) {
  switch (predicate) {
  case mlir::arith::CmpIPredicate::slt: return CmpInst::ICMP_SLT;
  case mlir::arith::CmpIPredicate::sle: return CmpInst::ICMP_SLE;
  case mlir::arith::CmpIPredicate::sgt: return CmpInst::ICMP_SGT;
  case mlir::arith::CmpIPredicate::sge: return CmpInst::ICMP_SGE;
  case mlir::arith::CmpIPredicate::ult: return CmpInst::ICMP_ULT;
  case mlir::arith::CmpIPredicate::ule: return CmpInst::ICMP_ULE;
  case mlir::arith::CmpIPredicate::ugt: return CmpInst::ICMP_UGT;
  default: return CmpInst::ICMP_UGE;
  }
}

/// The masks of the elements of the vector at register `first`, made anew from its first element: masks and addresses that were there before would be alive
/// all along for the sake of code that hardly any warp executes.
SmallVector<Value *> GpuEmitter::edgeMasks(mlir::Operation *access, unsigned vector, unsigned first) {
  unsigned axis = compiler::accessWidth(access, ttg::layoutOf(access->getOperand(0).getType()), *axes).axis;
  SmallVector<Value *> masks(vector, nullptr);
  for (mlir::Value conjunct : compiler::conjunctsOf(compiler::maskOf(access))) {
    auto compare = conjunct.getDefiningOp<mlir::arith::CmpIOp>();
    MaskEdge edge = compiler::maskEdge(conjunct, axis, vector, *axes);
    if (edge == MaskEdge::Uniform || !compare) {
      for (unsigned k = 0; k < vector; ++k)
        masks[k] = bothOf(masks[k], registers(conjunct)[edge == MaskEdge::Uniform ? first : first + k]);
      continue;
    }
    Value *sides[] = {registers(compare.getLhs())[first], registers(compare.getRhs())[first]};
    unsigned counting = axes->of(compare.getLhs()).contiguity[axis] >= vector ? 0 : 1;
    Value *start = target.opaque(b, sides[counting]);
    for (unsigned k = 0; k < vector; ++k) {
      sides[counting] = b.CreateAdd(start, ConstantInt::get(start->getType(), k));
      masks[k] = bothOf(masks[k], b.CreateICmp(predicateOf(compare.getPredicate()), sides[0], sides[1]));
    }
  }
  return masks;
}

/// Executes `vector` for each vector with an edge. `results`: the words of each vector, which `vector` may replace.
void GpuEmitter::atEdges(ArrayRef<Edge> edges, function_ref<void(unsigned)> vector, MutableArrayRef<SmallVector<Value *>> results) {
  Value *any = b.getFalse();
  for (const Edge &edge : edges)
    any = b.CreateOr(any, edge.partial);
  auto branch = [&](Value *condition, MutableArrayRef<SmallVector<Value *>> changed, function_ref<void()> then) {
    SmallVector<SmallVector<Value *>> before(changed.begin(), changed.end());
    BasicBlock *from = b.GetInsertBlock(), *last = nullptr;
    ifThen(condition, [&] {
      then();
      last = b.GetInsertBlock();
    });
    for (auto [words, old] : llvm::zip(changed, before))
      for (auto [word, unchanged] : llvm::zip(words, old)) {
        PHINode *phi = b.CreatePHI(word->getType(), 2);
        phi->addIncoming(unchanged, from);
        phi->addIncoming(word, last);
        word = phi;
      }
  };
  branch(any, results, [&] {
    for (unsigned i = 0; i < edges.size(); ++i)
      branch(edges[i].partial, results.empty() ? results : results.slice(i, 1), [&] { vector(i); });
  });
}

Value *GpuEmitter::neighbour(Value *address, unsigned elements, mlir::Type element) {
  return elements ? b.CreateConstGEP1_32(b.getInt8Ty(), address, elements * tt::bytesOf(element)) : address;
}

void GpuEmitter::emitEdgedLoad(tt::LoadOp op, unsigned vector) {
  mlir::Type element = tt::elementType(op.getType());
  ttg::TileLayout layout = ttg::layoutOf(op.getType());
  unsigned count = layout.registers();
  remarkAccess(op, &layout, vector, count / vector, *axes);
  Registers pointers = registers(op.getPtr());
  Registers others = op.getOther() ? registers(op.getOther()) : Registers(count, Constant::getNullValue(valueType(element)));
  auto read = [&](unsigned first, Value *address, unsigned elements, Value *predicate) {
    GlobalAccess access;
    access.address = address, access.predicate = predicate;
    access.cache = op.getCache(), access.evict = op.getEvict();
    access.chooseWords(elements, tt::bytesOf(element));
    return target.loadGlobal(b, access, pack(ArrayRef<Value *>(others).slice(first, elements), access.wordBits));
  };
  SmallVector<Edge> edges = edgesOf(op, vector, count);
  SmallVector<SmallVector<Value *>> words;
  for (auto [i, edge] : llvm::enumerate(edges))
    words.push_back(read(i * vector, pointers[i * vector], vector, edge.whole));
  auto byElement = [&](unsigned i) {
    Registers elements;
    SmallVector<Value *> masks = edgeMasks(op, vector, i * vector);
    for (unsigned k = 0; k < vector; ++k)
      elements.append(unpack(read(i * vector + k, neighbour(pointers[i * vector], k, element), 1, masks[k]), 1, element));
    words[i] = pack(elements, words[i].front()->getType()->getIntegerBitWidth());
  };
  atEdges(edges, byElement, words);
  Registers result;
  for (ArrayRef<Value *> vectorWords : words)
    result.append(unpack(vectorWords, vector, element));
  define(op.getResult(), std::move(result));
}

void GpuEmitter::emitEdgedStore(tt::StoreOp op, unsigned vector) {
  mlir::Type element = tt::elementType(op.getValue().getType());
  ttg::TileLayout layout = ttg::layoutOf(op.getPtr().getType());
  Registers pointers = registers(op.getPtr()), items = registers(op.getValue());
  Value *owner = isOwner(layout);
  auto write = [&](unsigned first, Value *address, unsigned elements, Value *predicate) {
    GlobalAccess access;
    access.address = address, access.predicate = bothOf(owner, predicate);
    access.cache = op.getCache(), access.evict = op.getEvict();
    access.chooseWords(elements, tt::bytesOf(element));
    target.storeGlobal(b, access, pack(ArrayRef<Value *>(items).slice(first, elements), access.wordBits));
  };
  SmallVector<Edge> edges = edgesOf(op, vector, layout.registers()), stored;
  SmallVector<unsigned> firsts; // register of each vector that is this thread's alone
  for (auto [i, edge] : llvm::enumerate(edges)) {
    if (layout.isDuplicateRegister(i * vector))
      continue;
    write(i * vector, pointers[i * vector], vector, edge.whole);
    stored.push_back(edge), firsts.push_back(i * vector);
  }
  atEdges(stored, [&](unsigned i) {
    SmallVector<Value *> masks = edgeMasks(op, vector, firsts[i]);
    for (unsigned k = 0; k < vector; ++k)
      write(firsts[i] + k, neighbour(pointers[firsts[i]], k, element), 1, masks[k]);
  });
  remarkAccess(op, &layout, vector, stored.size(), *axes);
}

} // namespace tk::lower
