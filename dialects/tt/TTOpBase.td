// Base classes of tt's operations.
#ifndef TK_TT_OP_BASE_TD
#define TK_TT_OP_BASE_TD

include "dialects/tt/TTDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/OpAsmInterface.td"

class TT_Op<string mnemonic, list<Trait> traits = []> : Op<TT_Dialect, mnemonic, traits>;

/// No side effects and safe to execute early.
class TT_PureOp<string mnemonic, list<Trait> traits = []> : TT_Op<mnemonic, !listconcat(traits, [Pure])>;

/// One result element per operand element, all of one shape.
class TT_ElementwiseOp<string mnemonic, list<Trait> traits = []> : TT_PureOp<mnemonic, !listconcat(traits, [Elementwise, SameOperandsAndResultShape])>;

/// As above with one type for all operands and the result.
class TT_SameTypeOp<string mnemonic, list<Trait> traits = []> : TT_PureOp<mnemonic, !listconcat(traits, [Elementwise, SameOperandsAndResultType])>;

/// `mask`, where it stands, is an i1 of the shape that `like` has. This lets the text leave its type out; the verifier names the constraint.
class TT_MaskOf<string like> : OptionalTypesMatchWith<"mask has the shape of `" # like # "` and element type i1", like, "mask", "::tk::tt::maskTypeFor($_self)",
                                                      "::tk::tt::leaveToVerifier">;
/// `value`, where it stands, has the shape and the pointee of `ptr`. As above.
class TT_PointeesOf<string ptr, string value> : OptionalTypesMatchWith<"`" # value # "` has the shape and pointee of `" # ptr # "`", ptr, value,
                                                                       "::tk::tt::pointeesOf($_self)", "::tk::tt::leaveToVerifier">;

def GlobalMemory : Resource<"::tk::tt::GlobalMemory">;

#endif
