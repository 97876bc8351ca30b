// list_code(): a program as text, one instruction a line. For tests, `--code`, and people who wonder.
#include "jinja/compile/program.h"

namespace parlance::jinja {
namespace {

constexpr std::string_view kNames[] = {
#define PARLANCE_OP(name, operands, sentence) #name,
#include "jinja/compile/opcodes.def"
#undef PARLANCE_OP
};

std::string operand(std::uint32_t code) {
  return (code & kConstant) != 0 ? "k" + std::to_string(code & ~kConstant) : std::to_string(code);
}

}  // namespace

std::string list_code(const Program& program) {
  std::string out;
  for (std::size_t at = 0; at < program.code.size(); ++at) {
    for (const Routine& routine : program.routines) {
      if (routine.entry == at) out += "; routine " + std::string(routine.name) + "\n";
    }
    const Instruction& i = program.code[at];
    out += std::to_string(at) + "\t" + std::string(kNames[static_cast<std::size_t>(i.op)]) + "\t" + operand(i.a) + " " +
           operand(i.b) + " " + operand(i.c) + " n" + std::to_string(i.n) + "\t; line " +
           std::to_string(program.source.line_of(program.extents[at].begin)) + "\n";
  }
  return out;
}

}  // namespace parlance::jinja
