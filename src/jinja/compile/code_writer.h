// CodeWriter: instructions with their registers, labels and constants. It knows no syntax tree but for the places of
// errors.
//
// The first of the three layers of the compiler; expression_compiler.h is the next. Begin reading at emit.
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/inline_vector.h"
#include "jinja/compile/program.h"
#include "jinja/compile/symbols.h"

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

class CodeWriter {
 protected:
  CodeWriter(Program& program, Runtime& rt) : p_(program), rt_(rt) {
    rt.arena.sort_log();
    sorted_records_ = rt.arena.sorted_derived().size();
  }

  struct Loop {
    Ident ident;  // of the variable `loop`, if extended
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
    std::uint32_t first_free = 0;     // no register below it is
    std::vector<Loop> loops;          // active ones, innermost last
    std::size_t first_breakable = 0;  // loops below this are cut off by a generation block
    std::uint32_t loop_depth = 0;
    std::uint32_t capture_depth = 0;
    std::uint32_t python_blocks = 0;  // nested `for` statements of the Python function
  };

  std::uint32_t begin_routine(Routine::Kind kind, std::string_view name);
  void finish_routine(RoutineState& state);
  std::uint32_t register_of(RoutineState& routine, Ident ident);
  /// Those that are there already.
  static std::optional<std::uint32_t> known_register(const RoutineState& routine, Ident ident);
  std::optional<std::uint32_t> known_variable(NameId name) const;
  std::uint32_t temporary(std::uint32_t count = 1);
  void release(Place place);
  void release_register(std::uint32_t number) {
    routine_->used[number] = false;
    routine_->first_free = std::min(routine_->first_free, number);
  }
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
  /// Whether that has a number for it: else it can only be what the template sets.
  bool is_variable(NameId name) const { return name < variable_names_.size() && variable_names_[name] != 0; }
  /// Where an attribute is looked up, which remembers what it found.
  std::uint32_t site(std::string_view name);
  /// The same for object['key'].
  std::uint32_t item_site(Value key);
  static constexpr std::uint32_t kMostSites = 0x7FFF;  // that fit beside the flag of set_attribute
  /// Literal text of the template, which is emitted with what follows it as one constant.
  void output_text(Value v, const Node* at);
  void flush_text();
  /// A rope as one text that keeps the origins of its pieces.
  Value in_one_run(Value rope);
  /// The first failure counts.
  void fail(ErrorCode code, const Node* at, std::string message, std::string hint = {});
  bool failed() const { return failure_.has_value(); }
  void end_loop(std::uint32_t top);
  void follow_jumps();
  void join_questions();

  Program& p_;
  Runtime& rt_;
  NameTable names_;
  RoutineState* routine_ = nullptr;
  std::optional<Error> failure_;
  InlineVector<Value, 8> pending_text_;  // waiting to be emitted as one constant

 private:
  std::uint32_t known_site(std::string_view name, bool is_item);
  std::size_t find_record(const char* address);
  void log_copy(const char* copy, Value v);

  std::unordered_map<std::string, std::uint32_t> further_sites_;  ///< those behind the first few

  std::vector<std::uint32_t> variable_names_;  // by NameId: number + 1 in p_.names
  const Node* pending_at_ = nullptr;
  std::size_t sorted_records_ = 0;  ///< so many of the log's records of derived text are in order of address
};

}  // namespace parlance::jinja
