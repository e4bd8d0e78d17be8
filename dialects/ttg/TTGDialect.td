// The ttg dialect: layouts as attributes of tile types.
#ifndef TK_TTG_DIALECT_TD
#define TK_TTG_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/AttrTypeBase.td"

def TTG_Dialect : Dialect {
  let name = "ttg";
  let cppNamespace = "::tk::ttg";
  let summary = "tiles with layouts: where each element is among the registers, lanes and warps of a block";
  let dependentDialects = ["::tk::tt::TTDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = "void registerAttributes(); void registerTypes();";
}

def TTG_LayoutInterface : AttrInterface<"LayoutAttr"> {
  let cppNamespace = "::tk::ttg";
  let description = "Where the elements of a tile are.";
  let methods = [InterfaceMethod<"the map from (register, lane, warp) to the row-major index of a tile of this shape", "::tk::ttg::TileLayout", "toTileLayout",
                                 (ins "::llvm::ArrayRef<int64_t>":$shape)>];
}

class TTG_Attr<string name, string attrMnemonic, list<Trait> traits = []> : AttrDef<TTG_Dialect, name, traits> { let mnemonic = attrMnemonic; }

def TTG_LinearAttr : TTG_Attr<"Linear", "linear", [DeclareAttrInterfaceMethods<TTG_LayoutInterface>]> {
  let summary = "a layout by the images of its bits";
  let description = "`#ttg.linear<register = [1, 2], lane = [4, 8], warp = [16]>`: the row-major index that each bit of the register, lane and warp number stands for.";
  let parameters = (ins "::tk::ttg::TileLayout":$layout);
  let hasCustomAssemblyFormat = 1;
}

def TTG_MatrixUnit : I32EnumAttr<"MatrixUnit", "instruction of a matrix unit",
                                 [I32EnumAttrCase<"M16N8K16", 0, "m16n8k16">, I32EnumAttrCase<"M16N8K8", 1, "m16n8k8">,
                                  I32EnumAttrCase<"M16N8K32", 2, "m16n8k32">, I32EnumAttrCase<"M8N8K4", 3, "m8n8k4">, I32EnumAttrCase<"Wgmma", 4, "wgmma">]> {
  let cppNamespace = "::tk::ttg";
}

def TTG_MmaAttr : TTG_Attr<"Mma", "mma", [DeclareAttrInterfaceMethods<TTG_LayoutInterface>]> {
  let summary = "accumulator of mma.sync or wgmma";
  let description = [{
    `#ttg.mma<m16n8k16, warps = 2x2>`: the last two axes of the tile are cut into instruction tiles, which the warps take in turn: warps along M, then along N (bits of the warp
    number from the lowest: N first); the remaining bits of an axis are further registers. Leading axes are registers.

    `wgmma`: of four warps, each of which has 16 rows of 64; warps along M are a multiple of four, and these four have the lowest bits of the warp number.
  }];
  let parameters = (ins "::tk::ttg::MatrixUnit":$unit, "unsigned":$warpsM, "unsigned":$warpsN);
  let hasCustomAssemblyFormat = 1;
}

def TTG_SharedAttr : TTG_Attr<"Shared", "shared"> {
  let summary = "where the elements of a tile are in shared memory";
  let description = [{
    `#ttg.shared<offset = [1, 2, 12, 8]>`: the row-major index that each bit of the offset (in elements, from the lowest) stands for. Every element has one place: a swizzle is a
    map whose images overlap.

    SH1. The images are linearly independent, and as many as the index has bits.
  }];
  let parameters = (ins ArrayRefParameter<"uint32_t">:$offset);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The inverse map: the offset of an element is the exclusive or of these over the set bits of its index.
    ::llvm::SmallVector<uint32_t> offsetOfIndexBit() const;
  }];
}

class TTG_Type<string name, string typeMnemonic> : TypeDef<TTG_Dialect, name> { let mnemonic = typeMnemonic; }

def TTG_MemDescType : TTG_Type<"MemDesc", "memdesc"> {
  let summary = "tiles of one type in shared memory, one behind the other";
  let description = [{
    `!ttg.memdesc<128x32xbf16, #ttg.shared<..>, slots = 3, mutable>`. What is not mutable is written once, where it is allocated. With several slots, `ttg.memdesc_index`
    names one of them.

    MD1. The extents are powers of two. MD2. The layout has a place for every element. MD3. There is at least one slot.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType, "::tk::ttg::SharedAttr":$layout, "unsigned":$slots, "bool":$isMutable);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    uint64_t slotBytes() const;
    /// The same tile without the other slots.
    MemDescType oneSlot() const;
  }];
}

def TTG_TokenType : TTG_Type<"Token", "token"> {
  let summary = "work that goes on by itself; who needs its result waits for the token";
}

#endif
