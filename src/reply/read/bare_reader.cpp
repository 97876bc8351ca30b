// Arguments as an object whose keys have no quotes: BareScanner makes JSON of them.
#include "reply/read/reading.h"
#include "reply/scan/bare_scanner.h"

namespace parlance::reply {
namespace {

class BareReader final : public PartReaderOf<BareReader> {
 public:
  BareReader(const std::string& quote, std::uint32_t depth) : scanner_(quote, depth) {}

  bool restart(const CallPart& part, const Reading& in) override {
    if (part.kind != CallPart::Kind::arguments || part.arguments.codec != CallArguments::Codec::bare) return false;
    scanner_.restart(part.arguments.quote, in.limits().depth);
    return true;
  }

 private:
  void read_part(const char*& p, const char* end) override {
    const char* const begin = p;
    std::string json;
    const Scan scan = scanner_.run(p, end, json);
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
  return std::make_unique<BareReader>(in.part().arguments.quote, in.limits().depth);
}

}  // namespace parlance::reply
