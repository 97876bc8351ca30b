// Program: a compiled Jinja template: instructions, constants, routines, and where each instruction came from.
//
// Immutable once compiled, so any number of threads may run it. compiler*.cpp makes it, vm.cpp runs it,
// opcodes.def lists the instructions.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/builtin.h"
#include "engine/program.h"
#include "jinja/syntax/ast.h"
#include "jinja/syntax/parser.h"
#include "parlance/result.h"
#include "value/dict.h"

namespace parlance::jinja {

/// How an instruction that prints escapes: as the compiler knows, or as the render finds ({% autoescape variable %}).
enum class EscapeMode : std::uint16_t { never, always, by_context };

enum class Op : std::uint16_t {
#define PARLANCE_OP(name, operands, sentence) name,
#include "jinja/compile/opcodes.def"
#undef PARLANCE_OP
};

/// An operand that is a constant has this bit; without it, it is a register.
inline constexpr std::uint32_t kConstant = 0x80000000u;

struct Instruction {
  Op op;
  std::uint16_t n;
  std::uint32_t a;
  std::uint32_t b;
  std::uint32_t c;
};
static_assert(sizeof(Instruction) == 16);

/// What a.name means for the kinds whose methods are known when compiling; or a['name'], for which keys come first.
struct AttributeSite {
  Value name;
  const Builtin* text_method = nullptr;  ///< the str method of this name, or null
  const Builtin* dict_method = nullptr;
  /// The name as the template's namespace(name=…) writes it, and its number there: a member with these very bytes as
  /// its key needs no comparison. No number where there is none, and for names that begin with _.
  const char* keyword = nullptr;
  std::uint32_t place = ~std::uint32_t{0};
  ShortName short_name;  ///< the name, if it is one
  bool is_item = false;  ///< a['name']
  bool on_dict = false;  ///< for a.name dict has a method, or the sandbox a veto, of this name: not just a key
  /// What the str method asks, where it is startswith or endswith: with one text given it needs no call.
  enum class Affix : std::uint8_t { none, prefix, suffix } affix = Affix::none;
};
static_assert(sizeof(AttributeSite) <= 64);  // there is one for each name

/// How a call passes its arguments: by position, by keyword, as * and as **.
struct CallShape {
  std::uint32_t first = 0;  ///< in Program::operands: the positional arguments, then the keywords' values
  std::uint32_t positional = 0;
  bool in_order = true;         ///< nothing but positional arguments
  std::vector<Value> keywords;  ///< names
  bool distinct_keywords = true;
  std::uint32_t star = kNone;       ///< operand of *args
  std::uint32_t star_star = kNone;  ///< operand of **kwargs
  std::uint32_t object = kNone;     ///< call_method: operand of the object; apply: of the subject
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
};

/// A filter or test call whose arguments were placed when compiling.
struct BoundCall {
  const Builtin* row;
  std::uint32_t defaults;  ///< constants: one for each parameter
  std::uint32_t first;     ///< operands: parameter number, operand; twice `given` entries
  std::uint32_t given;     ///< arguments beyond the subject
};

/// One Python function of what Jinja2 would generate: the root, a macro, a caller, a block, a recursive loop.
struct Routine {
  enum class Kind : std::uint8_t { root, macro, caller, block, loop };
  Kind kind = Kind::root;
  std::string_view name;
  std::uint32_t entry = 0;
  std::uint32_t registers = 0;
  std::uint32_t loops = 0;
  std::uint32_t captures = 0;
  bool escapes = false;  ///< closures refer to its frame, so the frame must outlive the call
  // macros and callers
  std::vector<std::string_view> parameters;  ///< registers 0…
  bool takes_caller = false;                 ///< then in this order after the parameters
  bool takes_kwargs = false;
  bool takes_varargs = false;
  bool explicit_caller = false;  ///< a parameter is named caller
  bool reads_caller = false;     ///< the body uses it
};

/// A template variable name: found in the render's variables, or among the globals.
struct VariableName {
  std::string_view name;
  Value missing;  ///< its undefined value
  Value unset;    ///< what it is where a render sets no such variable: the global function, or `missing`
  bool is_global = false;
};

/// The numbers of variable names, by name. A render asks once for each of its variables, which are few, instead of
/// comparing each name with all of them. A name is looked for by its length and its ends, which takes no time; where
/// many names are alike in these, as those of somebody who wants it slow, by all of it.
class VariableNumbers {
 public:
  VariableNumbers() = default;
  /// Of names that differ.
  explicit VariableNumbers(std::span<const VariableName> names);

  /// The number of a name among those that it was made of; kNone if it is none of them.
  std::uint32_t find(std::string_view name, std::span<const VariableName> names) const {
    if (name.empty()) return kNone;
    for (std::size_t at = first_slot(name);; ++at) {
      const std::uint32_t number = slots_[at & mask_];
      if (number == kNone || equal_bytes(names[number].name, name)) return number;
    }
  }
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  /// The most slots that find() looks at.
  std::size_t longest_search() const;

 private:
  bool place(std::span<const VariableName> names, std::size_t most_steps);
  std::size_t first_slot(std::string_view name) const {
    if (by_all_) return static_cast<std::size_t>(hash_text(name));
    return name.size() + 5 * static_cast<unsigned char>(name.front()) + 3 * static_cast<unsigned char>(name.back());
  }

  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(1, kNone);  ///< more than there are names
  std::size_t mask_ = 0;
  bool by_all_ = false;  ///< by a hash of all bytes, whose key nobody knows
};

struct BlockInfo {
  std::string_view name;
  std::uint32_t routine;
};

/// Something around a loop that its iterations read (compile/loop_inputs.h).
struct LoopInput {
  enum class Use : std::uint8_t {
    value,   ///< all of it
    member,  ///< a member, if it is a namespace
    item,    ///< the item number `offset`, if it is a list
    near,    ///< the item at loop.index0 + offset, if it is a list
    bound,   ///< compared with loop.index0 alone: with its value (or its length, or its member's) + offset
  };
  Use use = Use::value;
  bool is_register = false;  ///< of the root, else a variable
  bool is_length = false;
  bool is_written = false;  ///< the iterations assign the member
  std::uint32_t number = 0;
  std::string_view member;
  std::int64_t offset = 0;
  bool operator==(const LoopInput&) const = default;
};

/// A loop of the root whose first iterations need not run again if what they read is the same (machine/resume.h).
struct ResumableLoop {
  std::vector<LoopInput> inputs;
  std::vector<std::uint32_t> macros;  ///< routines that an input may be, since what they read is among the inputs
  std::uint32_t behind = 0;           ///< so many items before its own an iteration may look at,
  std::uint32_t ahead = 1;            ///< and so many behind it, or for whether there is one
};

/// Source bytes of an instruction.
struct Extent {
  std::uint32_t begin;
  std::uint32_t end;
};

struct Program : EngineProgram {
  explicit Program(SourceText source_in) : EngineProgram(std::move(source_in)) {}
  std::vector<Instruction> code;
  std::vector<Extent> extents;  ///< beside code
  std::vector<Value> constants;
  std::vector<std::uint32_t> operands;
  std::vector<Routine> routines;  ///< 0 is the root
  std::vector<VariableName> names;
  VariableNumbers numbers;                 ///< of names
  std::vector<std::string_view> assigned;  ///< names that get values, for misspelt_hint
  std::vector<AttributeSite> sites;        ///< 0 is no name's
  std::vector<CallShape> shapes;
  std::vector<BoundCall> bound;
  std::vector<BlockInfo> blocks;
  std::vector<ResumableLoop> resumable;  ///< field b of their for_next is their number + 1
  /// Gives back the room that tables were made with and do not need.
  void fit();
  bool allow_changes = false;   ///< CompileOptions::allow_changes
  bool limits_globals = false;  ///< TransformersRelease::limits_globals
};

/// Compiles template text. Fails with syntax, unknown_builtin, python_syntax, limit_depth.
Result<std::unique_ptr<Program>> compile(std::string name, std::string_view text, const SyntaxOptions& options,
                                         const Limits& limits);

/// The instructions as text, for tests and `--code`.
std::string list_code(const Program& program);

}  // namespace parlance::jinja
