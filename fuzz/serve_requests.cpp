// Fuzz target: any bytes as what a client sends to the gateway, over a connection within this process; its engine is a
// script. The first byte says in which pieces they are sent; the second chooses a route, whose request's body the rest
// is then, or is beyond the table: then the rest is sent as it is. Each request has an answer of HTTP whose body is
// what it says, none is a failure of the gateway, and the connection ends. Begin reading at Client.
#include <sys/socket.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <cstdint>
#include <cstdlib>

#include "serve/fronts/routes.h"
#include "serve/gateway.h"
#include "serve/http/server.h"
#include "serve_answers.h"

namespace {

using namespace parlance;
using namespace parlance::serve;
using Local = asio::local::stream_protocol::socket;
using Error = boost::system::error_code;

constexpr std::string_view kReplies[] = {
    "Yes.<|im_end|>",
    "<think>\nIt is \xE2\x82\xAC 1.\n</think>\n\nNo.<|im_end|>",
    "\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"b\"}}\n</tool_call><|im_end|>",
    "cut \xE2\x82",
    "\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\"",
    "",
};

/// Samples one of the replies, three tokens at a time.
class Scripted final : public Backend {
 public:
  explicit Scripted(const Tokenizer& tokenizer) {
    for (const std::string_view text : kReplies) {
      std::vector<EncodedToken> tokens;
      if (!tokenizer.encode(text, nullptr, tokens) && !text.ends_with("\xE2\x82")) std::abort();
      std::vector<SampledToken>& reply = replies_.emplace_back();
      for (const EncodedToken& token : tokens) reply.push_back({.id = token.id});
    }
    replies_[3] = {{.id = 'c'}, {.id = 0xE2}, {.id = 0x82}};  // ends within a character
    remember({.model = "scripted", .context = 1 << 16});
  }
  const BackendFacts& facts() const override { return facts_; }
  const HttpAddress& address() const override { return address_; }
  Task<> check() override { co_return; }
  Task<EngineInfo> ask() override { co_return EngineInfo{}; }
  Task<std::optional<std::vector<TokenId>>> tokenize(std::string_view) override { co_return std::nullopt; }

  Task<GenerationEnd> generate(const Generation& asked, const TokenSink& sink) override {
    std::vector<SampledToken> reply = replies_[(asked.ids.size() + asked.choice) % replies_.size()];
    const auto most = static_cast<std::size_t>(asked.sampling.integer(Setting::max_tokens).value_or(1 << 16));
    const bool length = reply.size() > most;
    if (length) reply.resize(most);
    if (asked.logprobs) {
      for (SampledToken& token : reply) {
        token.logprob = -0.5;
        token.alternatives.assign(*asked.logprobs, TokenAlternative{.id = token.id, .logprob = -0.5});
      }
    }
    constexpr std::size_t kPiece = 3;
    for (std::size_t at = 0; at < reply.size(); at += kPiece) {
      const std::span<const SampledToken> piece(reply.data() + at, std::min(kPiece, reply.size() - at));
      const bool more = co_await sink(piece, at + kPiece >= reply.size());
      if (!more) break;
    }
    co_return GenerationEnd{.length = length, .prompt_tokens = 1, .evaluated = 1, .sampled_tokens = 1};
  }

 private:
  BackendFacts facts_{.name = "scripted", .grammar = GrammarSyntax::gbnf, .sentence = ""};
  HttpAddress address_{};
  std::vector<std::vector<SampledToken>> replies_;
};

Offer make_offer() {
  auto tokenizer = fuzz::byte_tokenizer();
  auto engine = std::make_shared<Scripted>(*tokenizer);
  auto model = std::make_shared<ServedModel>(ServedModel{
      .name = "m", .backend = std::move(engine), .reader = fuzz::reader_of(true), .tokenizer = std::move(tokenizer)});
  if (!complete(*model)) std::abort();
  return {.models = {std::move(model)}};
}

/// One gateway for all inputs. What a request leaves in it is dropped.
struct Served {
  Gateway gateway{{.most_sessions = 64, .most_session_bytes = std::size_t{1} << 22, .hosts = KnownHosts({"h"})},
                  make_offer(),
                  Log(LogLevel::debug, [](std::string_view line) { fuzz::must_be_json(line); })};
  Loops loops{1};
  HttpServer server{loops, {.header = 2048, .body = 4096}, [this](Exchange& exchange, unsigned refused) {
                      return gateway.handle(exchange, refused);
                    }};
};

/// The other end of a connection to the gateway.
class Client {
 public:
  explicit Client(Served& served) : served_(served), socket_(served.loops.first()) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::abort();
    socket_.assign(asio::local::stream_protocol(), ends[0]);
    served.server.take(ends[1]);
    asio::co_spawn(served.loops.first(), read(), asio::detached);
    settle();
  }

  void send(std::string_view bytes, std::size_t piece) {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
      Error failed;  // the gateway may have closed the connection
      asio::write(socket_, asio::buffer(bytes.data(), std::min(piece, bytes.size())), failed);
      settle();
    }
  }

  /// What came, once the connection has ended.
  const std::string& end() {
    Error ignored;
    socket_.shutdown(Local::shutdown_send, ignored);
    while (!ended_ || served_.server.counts().open > 0) wait();
    return got_;
  }

 private:
  /// Until every whole request is answered.
  void settle() {
    served_.loops.first().poll();
    while (served_.server.counts().answering > 0) wait();
  }
  void wait() {
    if (served_.loops.first().run_one_for(std::chrono::seconds(5)) == 0) std::abort();
    served_.loops.first().poll();
  }
  Task<> read() {
    char piece[4096];
    for (Error failed; !failed;) {
      auto caught = asio::redirect_error(asio::use_awaitable, failed);
      const std::size_t size = co_await socket_.async_read_some(asio::buffer(piece), caught);
      got_.append(piece, size);
    }
    ended_ = true;
  }

  Served& served_;
  Local socket_;
  std::string got_;
  bool ended_ = false;
};

std::string request_of(const Route& route, std::string_view body, bool chunked) {
  std::string path(route.path);
  if (path.ends_with('*')) path.back() = '1';
  std::string out = std::string(route.method) + " " + path + " HTTP/1.1\r\nHost: h\r\nX-Session-Id: s\r\n";
  if (!chunked) return out + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
  out += "Transfer-Encoding: chunked\r\n\r\n";
  for (constexpr std::size_t kChunk = 15; !body.empty(); body.remove_prefix(std::min(kChunk, body.size()))) {
    const std::string_view chunk = body.substr(0, kChunk);
    out.append(1, "0123456789abcdef"[chunk.size()]).append("\r\n").append(chunk).append("\r\n");
  }
  return out + "0\r\n\r\n";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Served& served = *new Served;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.size() < 2) return 0;
  const auto cut = static_cast<unsigned char>(input[0]), chosen = static_cast<unsigned char>(input[1]);
  input.remove_prefix(2);
  const bool made = chosen < routes().size();
  const std::string text = made ? request_of(routes()[chosen], input, (cut & 128) != 0) : std::string(input);
  const std::size_t piece = (cut & 127) == 0 ? text.size() : (cut & 127) * std::size_t{4};
  Client client(served);
  client.send(text, piece);
  fuzz::check_answers(client.end());
  served.gateway.sessions().drop_models([](const auto&) { return true; });
  return 0;
}
