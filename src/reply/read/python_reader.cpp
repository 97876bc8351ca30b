// Arguments as a Python call's keywords: PythonScanner makes JSON of them.
#include "reply/read/reading.h"
#include "reply/scan/python_scanner.h"

namespace parlance::reply {
namespace {

const std::string kNoCallee;  // it was read with the name

const std::string& callee_of(const Reading& in) {
  const bool named_before = in.call->part > 0 && in.form().form->call[in.call->part - 1].kind == CallPart::Kind::name;
  return named_before ? kNoCallee : in.part().arguments.callee;
}

class PythonReader final : public PartReaderOf<PythonReader> {
 public:
  PythonReader(const std::string& callee, const ReplyLimits& limits) : scanner_(callee, limits.depth, limits.pending) {}

  bool restart(const CallPart& part, const Reading& in) override {
    if (part.kind != CallPart::Kind::arguments || part.arguments.codec != CallArguments::Codec::keywords) return false;
    scanner_.restart(callee_of(in), in.limits().depth, in.limits().pending);
    return true;
  }
  bool measure(Recovery& recovery, const Reading&) const override {
    recovery.depth = static_cast<std::uint16_t>(scanner_.open_brackets());
    recovery.quote = scanner_.open_quote();
    return true;
  }

 private:
  void read_part(const char*& p, const char* end) override {
    const char* const begin = p;
    std::string json;
    const Scan scan = scanner_.run(p, end, json);
    in().out.piece(ReplyEvent::Kind::arguments, {begin, p}, json);
    if (scanner_.take_repeated()) in().out.malformed(0, kNewArgument);
    if (scan == Scan::more) return;
    if (scan != Scan::bad) return answer({Step::What::done});
    in().put_meant(scanner_.unsaid());
    fail(scanner_.expected());
  }
  void say_cut_off(std::string&) override { in().out.piece(ReplyEvent::Kind::broken, {}, scanner_.unsaid()); }

  PythonScanner scanner_;
};

}  // namespace

std::unique_ptr<PartReader> python_reader(const Reading& in) {
  return std::make_unique<PythonReader>(callee_of(in), in.limits());
}

}  // namespace parlance::reply
