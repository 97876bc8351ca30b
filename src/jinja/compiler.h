// Compiler: syntax tree to instructions. One class over several files:
//   compiler.cpp             routines, scopes, registers, labels, errors
//   compile_expression.cpp   values
//   compile_condition.cpp    jumps on truth, without making booleans
//   compile_statement.cpp    statements
//   compile_routine.cpp      macros, call and filter blocks, blocks
//   fold.cpp                 constant subexpressions
// Scopes follow Jinja2's code generator frame by frame (symbols.h), since what a `set` means depends on it.
#pragma once
#include <optional>

#include "base/inline_vector.h"
#include "jinja/builtins.h"
#include "jinja/program.h"
#include "jinja/census.h"
#include "jinja/symbols.h"

namespace parlance::jinja {

/// Where a value is: a register or a constant; `temporary` registers go back to the pool when used.
struct Place {
  std::uint32_t code = 0;
  bool temporary = false;
  bool is_constant() const { return (code & kConstant) != 0; }
};

// Lists of one expression's parts; most are short.
using Places = InlineVector<Place, 8>;
using OperandList = InlineVector<std::uint32_t, 16>;
using NodeList = InlineVector<const Node*, 8>;

/// A jump target that may not be known yet.
struct Label {
  std::uint32_t last = kNone;  ///< the newest of them; the field c of each has the one before
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
};

class Compiler {
 public:
  Compiler(Program& program, Runtime& rt) : p_(program), rt_(rt) {}
  /// False after a failure, which failure() describes.
  bool run(const Nodes& nodes);
  const Error& failure() const { return *failure_; }

 private:
  void add_block(const Block& block);
  /// Is the special name read in `nodes` before anything there assigns it?
  bool mentions(const Nodes& nodes, std::string_view special) const {
    return census_.mentions(special) && is_undeclared(nodes, special);
  }
  struct Loop {
    Ident ident;             // of the variable `loop`, if extended
    bool extended = false;
    std::uint32_t number = 0;
    std::uint32_t captures = 0;  // open where the loop began
    Label next;
    Label done;
  };

  /// One routine being compiled.
  struct RoutineState {
    std::uint32_t index = 0;
    std::uint32_t base_level = 0;
    RoutineState* outer = nullptr;
    std::vector<std::pair<Ident, std::uint32_t>> registers;
    std::vector<bool> used;
    std::vector<Loop> loops;          // active ones, innermost last
    std::size_t first_breakable = 0;  // loops below this are cut off by a generation block
    std::uint32_t loop_depth = 0;
    std::uint32_t capture_depth = 0;
    std::uint32_t python_blocks = 0;  // nested `for` statements of the Python function
  };

  /// One of Jinja2's frames.
  struct Scope {
    Symbols symbols;
    RoutineState* routine;
    bool toplevel = false;
    bool soft = false;  // directly inside an if: unknown filters fail when they are reached
    // Jinja2's eval context: whether autoescaping is on as far as the compiler knows, and whether it cannot know.
    bool escape = false;
    bool is_volatile = false;
  };

  /// While it lives, `scope` is directly inside an if.
  class Softened {
   public:
    explicit Softened(Scope& scope) : scope_(scope), before_(scope.soft) { scope.soft = true; }
    ~Softened() { scope_.soft = before_; }
    Softened(const Softened&) = delete;

   private:
    Scope& scope_;
    bool before_;
  };

  // ---- compiler.cpp
  Scope inner(Scope& outer) const;
  void enter(Scope& scope);
  std::uint32_t begin_routine(Routine::Kind kind, std::string_view name);
  void finish_routine(RoutineState& state);
  std::uint32_t register_of(RoutineState& routine, Ident ident);
  std::uint32_t temporary(std::uint32_t count = 1);
  void release(Place place);
  void release_run(std::uint32_t first, std::uint32_t count);
  Place target_or_temporary(const Place* target);
  std::uint32_t emit(Op op, const Node* at, std::uint32_t a = 0, std::uint32_t b = 0, std::uint32_t c = 0,
                     std::uint32_t n = 0);
  void emit_jump(Op op, const Node* at, Label& label, std::uint32_t a = 0, std::uint32_t b = 0, std::uint32_t n = 0);
  void bind(Label& label);
  void bind_to(Label& label, std::uint32_t target);
  std::uint32_t constant(Value v);
  std::uint32_t add_operands(const OperandList& list);
  std::uint32_t variable_name(NameId name);
  void fail(ErrorCode code, const Node* at, std::string message, std::string hint = {});
  bool failed() const { return failure_.has_value(); }
  void resolve(std::uint32_t target, std::uint32_t name);
  void load_ident(Scope& scope, const Symbols::LoadEntry& entry);
  Place read_ident(Scope& scope, Ident ident, const Node* at);
  void compile_blocks();
  void follow_jumps();
  void join_questions();

  // ---- compile_expression.cpp
  Place expression(const Node* node, Scope& scope, const Place* target = nullptr);
  void expression_into(const Node* node, Scope& scope, std::uint32_t target);
  Place folded_place(const Node* node, Value value);
  Place name(const Name& node, Scope& scope);
  Place unary(Op op, const Node& node, Scope& scope, const Place* target);
  Place binary_operation(const Binary& node, Scope& scope, const Place* target);
  std::optional<std::uint32_t> taken_from_length(const Binary& node, Place left, Place right) const;
  Place sum_or_binary(const Binary& node, Scope& scope, const Place* target);
  Place logical(const Logical& node, Scope& scope);
  Place comparison(const Compare& node, Scope& scope, const Place* target);
  Place chained_comparison(const Compare& node, Scope& scope);
  Place conditional(const Conditional& node, Scope& scope);
  Place attribute(const GetAttribute& node, Scope& scope, const Place* target);
  Place item(const GetItem& node, Scope& scope, const Place* target);
  Place slice(const GetItem& node, Scope& scope, const Place* target);
  Place collection(Op op, std::span<const Node* const> parts, const Node& node, Scope& scope, const Place* target);
  Place filter_or_test(const Filter& node, Scope& scope, const Place* target);
  Place unknown_builtin(const Filter& node, Scope& scope);
  bool bind_statically(const Builtin& row, const Arguments& arguments, NodeList& by_parameter) const;
  Place call(const CallNode& node, Scope& scope, const Place* target, const Place* caller = nullptr);
  std::uint32_t call_shape(const Arguments& arguments, Scope& scope, const Node& at, const Place* caller,
                           Places& held);
  bool makes_namespace(const CallNode& node, std::uint32_t shape);
  bool check_keywords(const Arguments& arguments, const Node& at);
  std::uint32_t site(std::string_view name);
  static constexpr std::uint32_t kMostSites = 0x7FFF;  // that fit beside the flag of set_attribute
  std::optional<std::uint32_t> direct_loop(const Node* object, Scope& scope);
  bool sum_parts(const Binary& node, NodeList& parts) const;
  std::uint32_t part_list(std::span<const Node* const> parts, bool checked, Scope& scope, std::uint32_t& count,
                          Places& held);

  // ---- compile_condition.cpp
  void jump_when(const Node* node, bool when, Label& label, Scope& scope);
  bool jump_on_test(const Filter& node, bool when, Label& label, Scope& scope);
  bool jump_on_attribute(const Node* node, Op op, Label& label, Scope& scope, bool when, const Operand* operand,
                         std::uint16_t kinds = 0);

  // ---- compile_statement.cpp
  void statements(const Nodes& nodes, Scope& scope);
  void statement(const Node* node, Scope& scope);
  void output(const Output& node, Scope& scope);
  void output_part(const Node* node, Scope& scope);
  bool output_constant(const Node* node, Scope& scope);
  void output_choice(const Conditional& node, Scope& scope);
  void log_copy(const char* copy, Value v);
  static bool is_text(const Node* node) { return node->kind == NodeKind::constant && as<Constant>(node).value.is_string(); }
  bool parts_stand_alone(const NodeList& parts, const Scope& scope) const;
  void output_text(Value v, const Node* at);
  void flush_text();
  void for_loop(const For& node, Scope& scope);
  void recursive_loop(const For& node, Scope& scope);
  void loop_over(const For& node, Scope& outer, Scope& scope, Place iterable, bool extended);
  void test_candidate(const For& node, Scope& outer, std::uint32_t item, std::uint32_t top);
  void loop_else(const For& node, Scope& outer, std::uint32_t untouched);
  Place filtered(const For& node, Scope& scope, Place iterable);
  void assign_target(const Node* target, std::uint32_t value, Scope& scope);
  void assign_captured(const Node* target, std::uint32_t value, Scope& scope);
  void if_statement(const If& node, Scope& scope);
  std::uint32_t macro_routine(Routine::Kind kind, std::string_view name, const ArrayOf<Name*>& parameters,
                              const Nodes& defaults, const Nodes& body, const Node* at, Scope& scope);
  void macro(const Macro& node, Scope& scope);
  void call_block(const CallBlock& node, Scope& scope);
  void filter_block(const FilterBlock& node, Scope& scope);
  void with(const With& node, Scope& scope);
  void block(const Block& node, Scope& scope);
  void assign(const Assign& node, Scope& scope);
  void assign_block(const AssignBlock& node, Scope& scope);
  void store_name(const Name& node, std::uint32_t value, Scope& scope);
  void discard_captures(const Loop& loop, const Node& at);
  std::uint32_t begin_capture(const Node* at);
  Place end_capture(const Node* at, std::uint32_t capture, std::uint32_t mode);
  static std::uint32_t escape_mode(const Scope& scope) {
    return static_cast<std::uint32_t>(scope.is_volatile ? EscapeMode::by_context
                                      : scope.escape    ? EscapeMode::always
                                                        : EscapeMode::never);
  }
  void reset_after(Scope& scope, std::size_t routines_before);
  std::uint32_t variable_register(std::string_view name, Scope& scope);
  void give_call_names(const Generation& node, Scope& body);
  void generation(const Generation& node, Scope& scope);
  void autoescape(const Autoescape& node, Scope& scope);
  void load_template(const Node& node, const Node* name, Scope& scope);
  void break_or_continue(const Node& node, Scope& scope);

  // ---- fold.cpp
  std::optional<Value> fold(const Node* node, const Scope& scope, bool for_output = false);
  std::optional<Value> try_fold(const Node* node);
  std::optional<Value> fold_arguments_and_run(const Filter& node);

  Program& p_;
  Runtime& rt_;
  NameTable names_;
  Census census_;
  std::vector<std::uint32_t> variable_names_;  // by NameId: number + 1 in p_.names
  RoutineState* routine_ = nullptr;
  std::optional<Error> failure_;
  bool volatile_fold_ = false;  // folding although autoescaping is not known: no filters, no template text
  std::vector<const Block*> blocks_;
  // literal text waiting to be emitted as one constant
  InlineVector<Value, 8> pending_text_;
  const Node* pending_at_ = nullptr;
  const Place* block_subject_ = nullptr;  // what a filter without subject applies to: the text of its block
  bool target_of_block_ = false;          // a set block assigns, not a set statement
  std::size_t entered_ = 0;  // where the code of the scope begins that is being entered
  std::uint32_t depth_ = 0;  // nesting of expression() and statement()
};

/// Fields of the loop variable that need no object: their number for loop_field, or -1.
int simple_loop_field(std::string_view name);

}  // namespace parlance::jinja
