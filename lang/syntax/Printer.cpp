// Trees and tokens as text, for `--emit ast` and `--emit tokens`.
//
// One node a line, its children indented below; a child whose role isn't plain from its place has a label.
#include "lang/syntax/AstWalk.h"
#include "lang/syntax/Lexer.h"
#include "lang/syntax/Parser.h"
#include "lang/syntax/Utf8.h"

namespace tk::lang {

/// In double quotes, on one line, valid UTF-8 whatever the text is.
static std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size();) {
    const Utf8Char c = decodeUtf8(text, i);
    if (text[i] == '"' || text[i] == '\\')
      out += '\\', out += text[i];
    else if (text[i] == '\n')
      out += "\\n";
    else if (text[i] == '\t')
      out += "\\t";
    else if (!c.valid || c.value < 0x20 || c.value == 0x7F)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i]));
    else
      out.append(text.substr(i, c.length));
    i += c.length;
  }
  return out + '"';
}

std::string printTokens(const SourceFile &file, Diagnostics &diagnostics) {
  std::string out;
  checkEncoding(file, diagnostics);
  Lexer lexer(file, diagnostics);
  for (;;) {
    const Token token = lexer.next();
    const LineColumn begin = file.position(token.range.begin), end = file.position(token.range.end);
    out += fmt::format("{}:{}-{}:{} {}", begin.line, begin.column, end.line, end.column, tokenName(token.kind));
    if (token.kind == Tok::Name || token.kind == Tok::Number || token.kind == Tok::String || token.kind == Tok::FStringStart ||
        token.kind == Tok::FStringMiddle)
      out += " " + quoted(file.text(token.range));
    out += '\n';
    if (token.kind == Tok::EndOfFile)
      return out;
  }
}

namespace ast {

const char *spelling(BinaryOp op) {
  static constexpr const char *kTexts[] = {"+", "-", "*", "@", "/", "//", "%", "**", "<<", ">>", "&", "|", "^"};
  return kTexts[static_cast<size_t>(op)];
}
const char *spelling(UnaryOp op) {
  static constexpr const char *kTexts[] = {"+", "-", "~", "not"};
  return kTexts[static_cast<size_t>(op)];
}
const char *spelling(CompareOp op) {
  static constexpr const char *kTexts[] = {"==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"};
  return kTexts[static_cast<size_t>(op)];
}

namespace {
class Printer {
public:
  std::string out;

  void block(const Block &block, std::string_view label = "") {
    if (block.empty())
      return;
    if (label.empty())
      return statements(block);
    line(label);
    Inside inside(*this);
    statements(block);
  }

  void expr(const ExprPtr &expr, std::string_view label = "") {
    if (expr)
      this->expr(*expr, label);
  }
  void expr(const Expr &expr, std::string_view label = "");

private:
  struct Inside {
    explicit Inside(Printer &printer) : printer(printer) { ++printer.depth; }
    ~Inside() { --printer.depth; }
    Printer &printer;
  };

  void line(std::string_view text) {
    out.append(2 * depth, ' ');
    out += text;
    out += '\n';
  }
  void exprs(const std::vector<ExprPtr> &list, std::string_view label = "") {
    for (const ExprPtr &item : list)
      expr(item, label);
  }
  void keywords(const std::vector<Keyword> &list) {
    for (const Keyword &keyword : list)
      expr(keyword.value, keyword.name.empty() ? "**" : keyword.name + "=");
  }
  void statements(const Block &block) {
    for (const StmtPtr &stmt : block)
      statement(*stmt);
  }
  void parameters(const std::vector<Parameter> &params);
  void children(const Expr &expr);
  void fstring(const FString &node);
  void comprehension(const Comprehension &node);
  static std::string head(const Expr &expr);
  static std::string constant(const Constant &node);
  void statement(const Stmt &stmt);
  void compound(const Stmt &stmt);
  void names(std::string_view head, const std::vector<std::string> &list);
  void imports(std::string_view head, const std::vector<ImportedName> &list);

  unsigned depth = 0;
};
} // namespace

std::string Printer::constant(const Constant &node) {
  switch (node.type) {
  case Constant::None: return "None";
  case Constant::True: return "True";
  case Constant::False: return "False";
  case Constant::Ellipsis: return "...";
  case Constant::Int: return "Int " + node.text;
  case Constant::Float: return fmt::format("Float {}", node.number);
  case Constant::Imaginary: return fmt::format("Imaginary {}", node.number);
  case Constant::String: return "String " + quoted(node.text);
  case Constant::Bytes: return "Bytes " + quoted(node.text);
  }
  return "";
}

std::string Printer::head(const Expr &expr) {
  static constexpr const char *kNames[] = {"Name",   "Constant", "FString", "Tuple",   "List",        "Set",  "Dict",      "Comprehension",
                                           "Binary", "Unary",    "Bool",    "Compare", "Conditional", "Call", "Attribute", "Subscript",
                                           "Slice",  "Starred",  "Lambda",  "Walrus",  "Yield",       "Await"};
  std::string text = kNames[static_cast<size_t>(expr.kind)];
  switch (expr.kind) {
  case ExprKind::Name: return text + " " + as<Name>(expr).id;
  case ExprKind::Constant: return constant(as<Constant>(expr));
  case ExprKind::Comprehension: {
    static constexpr const char *kTypes[] = {" list", " set", " dict", " generator"};
    return text + kTypes[as<Comprehension>(expr).type];
  }
  case ExprKind::Binary: return text + " " + spelling(as<Binary>(expr).op);
  case ExprKind::Unary: return text + " " + spelling(as<Unary>(expr).op);
  case ExprKind::Bool: return text + (as<Bool>(expr).isAnd ? " and" : " or");
  case ExprKind::Compare:
    for (CompareOp op : as<Compare>(expr).ops)
      text += std::string(" ") + spelling(op);
    return text;
  case ExprKind::Attribute: return text + " " + as<Attribute>(expr).attr;
  case ExprKind::Yield: return text + (as<Yield>(expr).from ? " from" : "");
  default: return text;
  }
}

void Printer::expr(const Expr &expr, std::string_view label) {
  std::string text(label);
  if (!text.empty())
    text += text.back() == '=' ? " " : ": ";
  line(text + head(expr));
  Inside inside(*this);
  children(expr);
}

void Printer::children(const Expr &node) {
  switch (node.kind) {
  case ExprKind::FString: return fstring(as<FString>(node));
  case ExprKind::Dict:
    for (const auto &[key, value] : as<Dict>(node).items) {
      expr(key, "key");
      expr(value, key ? "value" : "**");
    }
    return;
  case ExprKind::Comprehension: return comprehension(as<Comprehension>(node));
  case ExprKind::Conditional:
    expr(as<Conditional>(node).condition, "if");
    expr(as<Conditional>(node).then, "then");
    return expr(as<Conditional>(node).otherwise, "else");
  case ExprKind::Call:
    expr(as<Call>(node).callee, "callee");
    exprs(as<Call>(node).args);
    return keywords(as<Call>(node).keywords);
  case ExprKind::Slice:
    expr(as<Slice>(node).lower, "lower");
    expr(as<Slice>(node).upper, "upper");
    return expr(as<Slice>(node).step, "step");
  case ExprKind::Lambda: parameters(as<Lambda>(node).params); return expr(as<Lambda>(node).body);
  default: forEachChild(node, [&](const Expr &child) { expr(child); });
  }
}

void Printer::fstring(const FString &node) {
  for (const FString::Part &part : node.parts) {
    if (!part.field) {
      line("text " + quoted(part.text));
      continue;
    }
    std::string text = "field";
    if (part.selfDocumenting)
      text += " " + quoted(part.text);
    if (part.conversion)
      text += std::string(" !") + part.conversion;
    if (!part.format.empty())
      text += " format " + quoted(part.format);
    line(text);
    Inside inside(*this);
    expr(part.field);
  }
}

void Printer::comprehension(const Comprehension &node) {
  expr(node.element, node.value ? "key" : "");
  expr(node.value, "value");
  for (const Comprehension::Clause &clause : node.clauses) {
    line(clause.isAsync ? "async for" : "for");
    Inside inside(*this);
    expr(clause.target);
    expr(clause.iterable, "in");
    exprs(clause.conditions, "if");
  }
}

void Printer::parameters(const std::vector<Parameter> &params) {
  static constexpr const char *kKinds[] = {"param ", "keyword-only ", "param *", "param **"};
  for (const Parameter &param : params) {
    line(kKinds[param.kind] + param.name);
    Inside inside(*this);
    expr(param.annotation, "annotation");
    expr(param.defaultValue, "default");
  }
}

void Printer::names(std::string_view head, const std::vector<std::string> &list) {
  std::string text(head);
  for (const std::string &name : list)
    text += " " + name;
  line(text);
}

void Printer::imports(std::string_view head, const std::vector<ImportedName> &list) {
  line(head);
  Inside inside(*this);
  for (const ImportedName &name : list)
    line(name.asName.empty() ? name.name : name.name + " as " + name.asName);
}

void Printer::statement(const Stmt &stmt) {
  static constexpr const char *kNames[] = {"Function",   "Class",  "Return",   "Assign",   "AugAssign", "AnnAssign", "For",      "While",
                                           "If",         "With",   "Assert",   "ExprStmt", "Pass",      "Break",     "Continue", "Import",
                                           "ImportFrom", "Global", "Nonlocal", "Delete",   "Raise",     "Try",       "Match"};
  std::string head = kNames[static_cast<size_t>(stmt.kind)];
  switch (stmt.kind) {
  case StmtKind::Import: return imports(head, as<Import>(stmt).names);
  case StmtKind::ImportFrom: {
    const auto &node = as<ImportFrom>(stmt);
    return imports(head + " " + std::string(node.level, '.') + node.module, node.names);
  }
  case StmtKind::Global: return names(head, as<Global>(stmt).names);
  case StmtKind::Nonlocal: return names(head, as<Nonlocal>(stmt).names);
  case StmtKind::AugAssign: head += std::string(" ") + spelling(as<AugAssign>(stmt).op) + "="; break;
  case StmtKind::Function: head = (as<Function>(stmt).isAsync ? "async Function " : "Function ") + as<Function>(stmt).name; break;
  case StmtKind::Class: head += " " + as<Class>(stmt).name; break;
  case StmtKind::For: head = as<For>(stmt).isAsync ? "async For" : head; break;
  case StmtKind::With: head = as<With>(stmt).isAsync ? "async With" : head; break;
  default: break;
  }
  line(head);
  Inside inside(*this);
  compound(stmt);
}

/// What stands below a statement's line.
void Printer::compound(const Stmt &stmt) {
  switch (stmt.kind) {
  case StmtKind::Function: {
    const auto &node = as<Function>(stmt);
    exprs(node.decorators, "decorator");
    parameters(node.params);
    expr(node.returns, "returns");
    return block(node.body, "body");
  }
  case StmtKind::Class: {
    const auto &node = as<Class>(stmt);
    exprs(node.decorators, "decorator");
    exprs(node.bases, "base");
    keywords(node.keywords);
    return block(node.body, "body");
  }
  case StmtKind::Assign: exprs(as<Assign>(stmt).targets, "target"); return expr(as<Assign>(stmt).value);
  case StmtKind::AnnAssign:
    expr(as<AnnAssign>(stmt).target, "target");
    expr(as<AnnAssign>(stmt).annotation, "annotation");
    return expr(as<AnnAssign>(stmt).value);
  case StmtKind::For:
    expr(as<For>(stmt).target, "target");
    expr(as<For>(stmt).iterable, "in");
    block(as<For>(stmt).body, "body");
    return block(as<For>(stmt).orelse, "else");
  case StmtKind::While:
    expr(as<While>(stmt).condition);
    block(as<While>(stmt).body, "body");
    return block(as<While>(stmt).orelse, "else");
  case StmtKind::If:
    expr(as<If>(stmt).condition);
    block(as<If>(stmt).then, "then");
    return block(as<If>(stmt).orelse, "else");
  case StmtKind::With:
    for (const auto &[context, target] : as<With>(stmt).items) {
      expr(context);
      expr(target, "as");
    }
    return block(as<With>(stmt).body, "body");
  case StmtKind::Raise: expr(as<Raise>(stmt).value); return expr(as<Raise>(stmt).cause, "from");
  case StmtKind::Try: {
    const auto &node = as<Try>(stmt);
    block(node.body, "body");
    for (const Try::Handler &handler : node.handlers) {
      line(handler.name.empty() ? "except" : "except as " + handler.name);
      Inside inside(*this);
      expr(handler.type, "type");
      block(handler.body, "body");
    }
    block(node.orelse, "else");
    return block(node.finally, "finally");
  }
  case StmtKind::Match:
    expr(as<Match>(stmt).subject);
    for (const Match::Case &branch : as<Match>(stmt).cases) {
      line("case");
      Inside inside(*this);
      expr(branch.guard, "if");
      block(branch.body, "body");
    }
    return;
  default: forEachExpr(stmt, [&](const Expr &child) { expr(child); });
  }
}

std::string print(const Module &module) {
  Printer printer;
  printer.block(module.body, "Module");
  return printer.out;
}

std::string print(const Expr &expr) {
  Printer printer;
  printer.expr(expr);
  return printer.out;
}

} // namespace ast
} // namespace tk::lang
