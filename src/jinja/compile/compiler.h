// Compiler: syntax tree to instructions, in three layers, each of which knows the ones before it:
//   code_writer.h           instructions, registers, labels, constants
//   expression_compiler.h   values, conditions, constant subexpressions
//   compiler.cpp            routines and scopes of a whole template
//   compile_statement.cpp   statements
//   compile_routine.cpp     macros, call and filter blocks, blocks
// Scopes follow Jinja2's code generator frame by frame (symbols.h), since what a `set` means depends on it.
#pragma once
#include "jinja/compile/census.h"
#include "jinja/compile/expression_compiler.h"
#include "jinja/compile/loop_inputs.h"

namespace parlance::jinja {

class Compiler final : private ExpressionCompiler {
 public:
  Compiler(Program& program, Runtime& rt) : ExpressionCompiler(program, rt) {}
  /// False after a failure, which failure() describes.
  bool run(const Nodes& nodes);
  const Error& failure() const { return *failure_; }

 private:
  // ---- compiler.cpp
  void add_block(const Block& block);
  void compile_blocks();
  /// Is the special name read in `nodes` before anything there assigns it?
  bool mentions(const Nodes& nodes, std::string_view special) {
    return census_.mentions(special) && is_undeclared(nodes, special, names_.intern(special));
  }
  void place_inputs(const Scope& root);
  bool place_input(const Scope& root, FoundLoop::Input& input) const;
  Scope inner(Scope& outer) const;
  void enter(Scope& scope);

  // ---- compile_statement.cpp
  void statements(const Nodes& nodes, Scope& scope);
  void statement(const Node* node, Scope& scope);
  void output(const Output& node, Scope& scope);
  void output_part(const Node* node, Scope& scope);
  bool output_constant(const Node* node, Scope& scope);
  void output_choice(const Conditional& node, Scope& scope);
  bool parts_stand_alone(const NodeList& parts, const Scope& scope) const;
  void for_loop(const For& node, Scope& scope);
  void recursive_loop(const For& node, Scope& scope);
  void loop_over(const For& node, Scope& outer, Scope& scope, Place iterable, bool extended);
  void loop_body(const For& node, Scope& scope, Label& settled);
  void settling_condition(const Node* test, const Node* first, Label& settled, Label& otherwise, Scope& scope);
  std::uint32_t resumable_number(const For& node, const Scope& outer, const Scope& scope, bool object);
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
  void reset_after(Scope& scope, std::size_t routines_before);
  std::uint32_t variable_register(std::string_view name, Scope& scope);
  void give_call_names(const Generation& node, Scope& body);
  void generation(const Generation& node, Scope& scope);
  void autoescape(const Autoescape& node, Scope& scope);
  void load_template(const Node& node, const Node* name, Scope& scope);
  void break_or_continue(const Node& node, Scope& scope);

  Census census_;
  std::vector<TopMacro> macros_;
  std::vector<std::pair<const Macro*, std::uint32_t>> macro_routines_;  ///< of all that were compiled
  std::vector<FoundLoop> found_loops_;
  std::vector<std::pair<const For*, std::uint32_t>> lookers_;  ///< FoundLoop::lookers, with the number of their loop
  /// The `if` that settles the loop being compiled, if one does (settling.h), and where to go then.
  struct Settling {
    const If* node = nullptr;
    Label* settled = nullptr;
  };
  Settling settling_;
  bool target_of_block_ = false;  // a set block assigns, not a set statement
};

}  // namespace parlance::jinja
