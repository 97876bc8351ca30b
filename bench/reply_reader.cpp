// parlance as a reader of replies in the benchmark (run_replies.py): pieces in memory to the message.
//
//     bench_reply_reader stream   feed() for each piece
//     bench_reply_reader tokens   feed_token(): pieces that are the format's control texts are control tokens
//     bench_reply_reader again    the whole reply so far is read anew at each piece: what a reader without state costs
//
// The protocol's template is a ReplyFormat as JSON, its context {"prompt", "pieces"}.
#include <simdjson.h>

#include <algorithm>
#include <optional>

#include "engine_process.h"
#include "parlance/reply.h"

namespace {

using namespace parlance;

enum class Way { stream, tokens, again };

struct Piece {
  std::string text;
  bool control = false;
};

class ReplyReader : public bench::Engine {
 public:
  explicit ReplyReader(Way way) : way_(way) {}
  std::string version() const override { return "this tree"; }

  bool load(bench::Job job) override {
    auto format = ReplyFormat::from_json(job.template_text);
    if (!format) return fail(format.error().message());
    ReplyOptions options;
    simdjson::dom::parser json;
    const simdjson::dom::element context = json.parse(job.context);
    options.prompt = std::string(std::string_view(context["prompt"]));
    pieces_.clear();
    for (const std::string_view text : simdjson::dom::array(context["pieces"])) {
      const auto& control = format->control;
      pieces_.push_back({std::string(text), std::find(control.begin(), control.end(), text) != control.end()});
    }
    fresh_.emplace(*ReplyParser::make(*format, options));
    return true;
  }
  bool compile() override { return fail("only e2e"); }
  bool render() override { return fail("only e2e"); }
  bool end_to_end() override {
    message_ = way_ == Way::again ? again() : stream();
    return true;
  }
  std::string_view output() const override {
    json_ = message_.to_json();
    return json_;
  }

 private:
  ReplyMessage stream() const {
    ReplyMessage message;
    const auto sink = [&](const ReplyEvent& event) { message.add(event); };
    ReplyParser parser(*fresh_);
    for (const Piece& piece : pieces_) {
      if (way_ == Way::tokens)
        parser.feed_token(piece.text, piece.control, sink);
      else
        parser.feed(piece.text, sink);
    }
    parser.finish(sink);
    return message;
  }

  ReplyMessage again() const {
    std::string text;
    ReplyMessage message;
    const auto sink = [&](const ReplyEvent& event) { message.add(event); };
    for (const Piece& piece : pieces_) {
      text += piece.text;
      message = {};
      ReplyParser parser(*fresh_);
      parser.feed(text, sink);
      parser.finish(sink);
    }
    return message;
  }

  Way way_;
  std::vector<Piece> pieces_;
  std::optional<ReplyParser> fresh_;
  ReplyMessage message_;
  mutable std::string json_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string_view way = argc > 1 ? argv[1] : "";
  ReplyReader reader(way == "again" ? Way::again : way == "tokens" ? Way::tokens : Way::stream);
  return bench::engine_main(reader, 1, argv);
}
