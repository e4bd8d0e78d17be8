// Annotations, decorators and the specialization of host values.
#include "lang/sema/ParamSpecs.h"
#include "lang/sema/ConstOperations.h"
#include "lang/sema/ConstText.h"
#include "lang/sema/LanguageNames.h"
#include "lang/sema/ModuleScope.h"
#include "lang/sema/SyntaxFacts.h"
#include "lang/sema/TypeSpelling.h"
#include "llvm/ADT/APFloat.h"

namespace tk::lang {

static std::string lastComponent(const std::string &dotted) { return dotted.substr(dotted.rfind('.') + 1); }

std::optional<Annotation> annotationOf(const ModuleScope &scope, const ast::Parameter &parameter, Diagnostics &diagnostics) {
  if (!parameter.annotation)
    return std::nullopt;
  Annotation result;
  const ast::Expr &node = *parameter.annotation;
  auto *text = ast::dyn<ast::Constant>(&node);
  std::string dotted = text && text->type == ast::Constant::String ? text->text : dottedName(node);
  std::string last = lastComponent(dotted);
  if (last == "constexpr" || last == "const") {
    (last == "const" ? result.isConst : result.isConstexpr) = true;
    return result;
  }
  if (text && text->type == ast::Constant::String) {
    if (std::optional<SpelledType> type = parseTypeSpelling(text->text)) {
      result.type = type->type;
      result.isConst = type->type.isConst;
      result.divisibility = type->divisibility;
    } else if (!scope.isPython()) {
      diagnostics.report(Diag::BadTypeSpelling, {&scope.file(), node.range}, text->text);
    }
    return result;
  }
  if (dotted == "int" || dotted == "float" || dotted == "bool" || dotted == "str" || dotted == "object")
    return result; // Python's own types say nothing about the width
  Diagnostics quiet;
  bool isName = !dotted.empty();
  HostEvaluator evaluator(&scope, isName || scope.isPython() ? quiet : diagnostics, 10'000);
  std::optional<ConstValue> value = evaluator.evaluate(node, scope.file());
  if (value)
    if (auto *type = value->get<TypeValue>())
      result.type = *type;
  return result;
}

static void applyNames(const ast::Function &function, const ConstValue &value, std::vector<bool> &flags) {
  std::string error;
  std::vector<ConstValue> entries;
  if (auto elements = constElements(value, error); elements && !value.asString())
    entries = *elements;
  else
    entries.push_back(value);
  for (const ConstValue &entry : entries)
    for (size_t i = 0; i < function.params.size(); ++i)
      if ((entry.asString() && *entry.asString() == function.params[i].name) || (entry.get<BigInt>() && entry.asInt64() == static_cast<int64_t>(i)))
        flags[i] = true;
}

KernelDecorators decoratorsOf(const ModuleScope &scope, const ast::Function &function, Diagnostics &diagnostics) {
  KernelDecorators result;
  result.doNotSpecialize.resize(function.params.size());
  result.doNotSpecializeOnAlignment.resize(function.params.size());
  for (const auto &decorator : function.decorators) {
    auto *call = ast::dyn<ast::Call>(decorator.get());
    if (!call)
      continue;
    std::string name = decoratorName(*decorator);
    if (name == "grid") {
      result.hasGrid = true;
      for (const auto &arg : call->args)
        result.grid.push_back(arg.get());
      if (result.grid.empty() || result.grid.size() > 3)
        diagnostics.report(Diag::GridExpressions, {&scope.file(), decorator->range}, result.grid.size());
    } else if (name == "example") {
      result.examples.push_back(call);
    } else if (name == "jit") {
      for (const ast::Keyword &keyword : call->keywords) {
        if (keyword.name != "do_not_specialize" && keyword.name != "do_not_specialize_on_alignment" && keyword.name != "noinline")
          continue;
        HostEvaluator evaluator(&scope, diagnostics, 100'000);
        std::optional<ConstValue> value = evaluator.evaluate(*keyword.value, scope.file());
        if (!value)
          continue;
        if (keyword.name == "noinline")
          result.noinline = value->truth();
        else
          applyNames(function, *value, keyword.name == "do_not_specialize" ? result.doNotSpecialize : result.doNotSpecializeOnAlignment);
      }
    }
  }
  return result;
}

// ---- values ----
static bool isInteger(const ConstValue &value) { return value.get<BigInt>() || value.get<bool>(); }

static BigInt integerOf(const ConstValue &value) { return value.get<bool>() ? BigInt(static_cast<int64_t>(*value.get<bool>())) : *value.get<BigInt>(); }

const llvm::fltSemantics &semanticsOf(DType type) {
  switch (type) {
  case DType::F8E4M3FN: return llvm::APFloat::Float8E4M3FN();
  case DType::F8E5M2: return llvm::APFloat::Float8E5M2();
  case DType::F8E4M3FNUZ: return llvm::APFloat::Float8E4M3FNUZ();
  case DType::F8E5M2FNUZ: return llvm::APFloat::Float8E5M2FNUZ();
  case DType::F16: return llvm::APFloat::IEEEhalf();
  case DType::BF16: return llvm::APFloat::BFloat();
  case DType::F64: return llvm::APFloat::IEEEdouble();
  default: return llvm::APFloat::IEEEsingle();
  }
}

std::optional<llvm::APFloat> floatConstant(const ConstValue &value, DType type) {
  llvm::APFloat number(semanticsOf(type));
  if (isInteger(value)) {
    BigInt integer = integerOf(value);
    number.convertFromAPInt(toAPInt(integer, bitLength(integer) + 2), true, llvm::APFloat::rmNearestTiesToEven);
  } else if (auto *d = value.get<double>()) {
    number = llvm::APFloat(*d);
    bool lost = false;
    number.convert(semanticsOf(type), llvm::APFloat::rmNearestTiesToEven, &lost);
  } else {
    return std::nullopt;
  }
  // 8-bit kinds saturate instead of overflowing.
  if (isFloat8(type) && !std::isnan(*value.asDouble())) {
    bool negative = std::signbit(*value.asDouble());
    llvm::APFloat largest = llvm::APFloat::getLargest(semanticsOf(type), negative);
    if (number.isInfinity() || number.isNaN())
      return largest;
  }
  return number;
}

std::optional<uint64_t> scalarBits(const ConstValue &value, DType type) {
  if (isFloat(type)) {
    bool isE4B15 = type == DType::F8E4B15; // through fp16 by truncation, then as Casts.cpp does it
    std::optional<llvm::APFloat> number = floatConstant(value, isE4B15 ? DType::F32 : type);
    if (number && isE4B15) {
      bool lost = false;
      number->convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmTowardZero, &lost);
      uint64_t bits = number->bitcastToAPInt().getZExtValue();
      return ((bits >> 8) & 0x80) | ((std::min<uint64_t>(bits & 0x7FFF, 0x3F00) + 0x40) >> 7);
    }
    return number ? std::optional<uint64_t>(number->bitcastToAPInt().getZExtValue()) : std::nullopt;
  }
  if (!isInteger(value))
    return std::nullopt;
  BigInt integer = integerOf(value);
  if (!fitsInteger(integer, type))
    return std::nullopt;
  return toAPInt(integer, bitsOf(type)).getZExtValue();
}

bool fitsInteger(const BigInt &value, DType type) {
  unsigned bits = bitsOf(type) - (isSigned(type) ? 1 : 0);
  if (value < BigInt(0))
    return isSigned(type) && bitLength(value + BigInt(1)) <= bits;
  return bitLength(value) <= bits;
}

static unsigned divisibilityOf(const BigInt &value, const SpecializeOptions &options) {
  return options.specialize && options.alignment && value % BigInt(16) == BigInt(0) ? 16 : 1;
}

static std::optional<ParamSpec> fail(std::string &error, std::string text) {
  error = std::move(text);
  return std::nullopt;
}

static std::optional<ParamSpec> scalarSpec(const ConstValue &value, const Annotation *annotation, const SpecializeOptions &options, std::string &error) {
  ParamSpec spec;
  spec.kind = ParamSpec::Scalar;
  if (annotation && annotation->type) {
    spec.type = *annotation->type;
    DType type = spec.type.dtype;
    if (spec.type.pointerDepth) { // an address
      if (!isInteger(value) || !fitsInteger(integerOf(value), DType::U64))
        return fail(error, fmt::format("needs an array, found {}", value.repr()));
      spec.kind = ParamSpec::Pointer;
      --spec.type.pointerDepth;
      spec.divisibility = divisibilityOf(integerOf(value), options);
      return spec;
    }
    if (isInteger(value) && tk::isInteger(type)) {
      if (!fitsInteger(integerOf(value), type))
        return fail(error, fmt::format("is out of range of {}: {}", spelling(type), value.repr()));
      if (type != DType::I1)
        spec.divisibility = divisibilityOf(integerOf(value), options);
    } else if (tk::isInteger(type)) {
      return fail(error, fmt::format("needs an integer for {}, found {}", spelling(type), value.repr()));
    }
    return spec;
  }
  if (value.get<bool>())
    return spec.type = TypeValue{DType::I1, 0, false}, spec;
  if (value.get<double>())
    return spec.type = TypeValue{DType::F32, 0, false}, spec;
  BigInt integer = integerOf(value);
  if (integer == BigInt(1) && options.specialize && options.foldOne) {
    spec.kind = ParamSpec::Constant;
    spec.value = value;
    return spec;
  }
  for (DType type : {DType::I32, DType::I64, DType::U64})
    if (fitsInteger(integer, type)) {
      spec.type = TypeValue{type, 0, false};
      spec.divisibility = divisibilityOf(integer, options);
      return spec;
    }
  return fail(error, fmt::format("does not fit 64 bits: {}", value.repr()));
}

std::optional<ParamSpec> specializeParam(const ConstValue &value, const std::optional<Annotation> &annotation, const SpecializeOptions &options, std::string &error) {
  error.clear();
  const Annotation *a = annotation ? &*annotation : nullptr;
  ParamSpec spec;
  spec.value = value;
  if ((a && a->isConstexpr) || value.isNone())
    return spec;
  if (isInteger(value) || value.get<double>())
    return scalarSpec(value, a, options, error);
  if (value.asArray() || value.asInit()) {
    auto *array = value.asArray();
    DType dtype = array ? array->dtype : value.asInit()->dtype;
    spec.value = ConstValue();
    spec.kind = ParamSpec::Pointer;
    spec.type = TypeValue{dtype, 0, a && a->isConst};
    if (a && a->type) {
      if (!a->type->pointerDepth)
        return fail(error, fmt::format("is annotated as {} but is an array", typeText(*a->type)));
      if (a->type->pointerDepth == 1 && a->type->dtype != dtype)
        return fail(error, fmt::format("is annotated as {} but the array holds {}", typeText(*a->type), spelling(dtype)));
    }
    spec.divisibility = options.specialize && options.alignment && options.addressDivisibility % 16 == 0 ? 16 : 1;
    return spec;
  }
  if (auto *tuple = value.asTuple()) {
    spec.value = ConstValue();
    spec.kind = ParamSpec::Tuple;
    SpecializeOptions each = options;
    each.elementAddresses = nullptr;
    for (size_t i = 0; i < tuple->elements.size(); ++i) {
      each.addressDivisibility = options.elementAddresses ? options.elementAddresses(i) : 1;
      std::optional<ParamSpec> inner = specializeParam(tuple->elements[i], std::nullopt, each, error);
      if (!inner)
        return std::nullopt;
      spec.elements.push_back(std::move(*inner));
    }
    return spec;
  }
  return spec; // strings, dtypes, functions: by value
}

std::string describe(const ParamSpec &spec) {
  std::string suffix = spec.divisibility > 1 ? ":" + std::to_string(spec.divisibility) : "";
  switch (spec.kind) {
  case ParamSpec::Constant: return "=" + spec.value.repr();
  case ParamSpec::Scalar: return typeText(spec.type) + suffix;
  case ParamSpec::Pointer: return typeText(TypeValue{spec.type.dtype, spec.type.pointerDepth + 1, spec.type.isConst}) + suffix;
  case ParamSpec::Tuple: break;
  }
  std::string text = "(";
  for (const ParamSpec &element : spec.elements)
    text += (text.size() > 1 ? ", " : "") + describe(element);
  return text + ")";
}

} // namespace tk::lang
