// Arguments as an object whose keys have no quotes: BareScanner makes JSON of them.
#include "base/inside.h"
#include "reply/read/reading.h"
#include "reply/scan/bare_scanner.h"
#include "reply/tools.h"

namespace parlance::reply {
namespace {

/// Whether the tool of the call that is open has this argument.
bool is_argument(const void* of, std::string_view name) {
  const auto& in = *static_cast<const Reading*>(of);
  const DeclaredTools* data = inside_of(in.tools()).get();
  if (data == nullptr) return false;
  const auto tool = data->tools.find(in.call->name.view());
  return tool != data->tools.end() && data->types[tool->second].members.contains(name);
}

class BareReader final : public PartReaderOf<BareReader> {
 public:
  BareReader(const std::string& quote, const ReplyLimits& limits) : scanner_(quote, limits.depth, limits.pending) {}

  bool restart(const CallPart& part, const Reading& in) override {
    if (part.kind != CallPart::Kind::arguments || part.arguments.codec != CallArguments::Codec::bare) return false;
    scanner_.restart(part.arguments.quote, in.limits().depth, in.limits().pending);
    return true;
  }

 private:
  void read_part(const char*& p, const char* end) override {
    const char* const begin = p;
    std::string json;
    const Scan scan = scanner_.run(p, end, json, {&in(), is_argument});
    in().out.piece(ReplyEvent::Kind::arguments, {begin, p}, json);
    if (const char* expected = scanner_.take_mended()) in().out.malformed(0, expected, ReplyEvent::Fault::mended);
    if (const char* expected = scanner_.take_repeated()) in().out.malformed(0, expected);
    if (scan == Scan::more) return;
    if (scan != Scan::bad) return answer({Step::What::done});
    in().put_meant(scanner_.unsaid());
    fail(scanner_.expected());
  }
  void say_cut_off(std::string&) override { in().out.piece(ReplyEvent::Kind::broken, {}, scanner_.unsaid()); }

  BareScanner scanner_;
};

}  // namespace

std::unique_ptr<PartReader> bare_reader(const Reading& in) {
  return std::make_unique<BareReader>(in.part().arguments.quote, in.limits());
}

}  // namespace parlance::reply
