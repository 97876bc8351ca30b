// Fuzz target: any bytes as what an engine answers to the gateway. The first byte chooses the kind of engine; the
// second what is asked: a chat of one of the APIs, whole or as a stream, or what the engine is. The third says in which
// pieces the rest is sent, which is the engine's answer to each request. Then the client has a whole answer in its
// API's form, and where it is an error it names the engine. Begin reading at ask.
#include <sys/socket.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <cstdint>
#include <cstdlib>

#include "serve/backends/http_engine.h"
#include "serve/gateway.h"
#include "serve/models/engine.h"
#include "serve_answers.h"

namespace {

using namespace parlance;
using namespace parlance::serve;
using Local = asio::local::stream_protocol::socket;

/// What is asked of the gateway.
struct Asked {
  std::string_view path;
  std::string_view body;
};
constexpr Asked kAsked[] = {
    {"/v1/chat/completions", R"({"messages": [{"role": "user", "content": "a"}], "parlance": true})"},
    {"/v1/chat/completions",
     R"({"messages": [{"role": "user", "content": "a"}], "stream": true, "logprobs": true, "top_logprobs": 2, )"
     R"("stop": ["zz"]})"},
    {"/v1/chat/completions",
     R"({"messages": [{"role": "user", "content": "a"}], "tools": [{"type": "function", "function": {"name": "f", )"
     R"("parameters": {}}}], "logprobs": true})"},
    {"/v1/responses", R"({"input": "a", "stream": true})"},
    {"/v1/messages", R"({"messages": [{"role": "user", "content": "a"}], "max_tokens": 9})"},
    {"/v1/messages", R"({"messages": [{"role": "user", "content": "a"}], "max_tokens": 9, "stream": true})"},
    {"/api/chat", R"({"messages": [{"role": "user", "content": "a"}]})"},
    {"/v1/completions", R"({"prompt": "a", "n": 2, "logprobs": 1})"},
    {"/v1/completions", R"({"prompt": "a", "stream": true})"},
    {"/ready", ""},
};

/// Takes the answer.
class Client final : public Exchange {
 public:
  explicit Client(const Asked& asked) {
    request_.method = asked.body.empty() ? "GET" : "POST";
    request_.path = asked.path;
    request_.body = asked.body;
  }
  Task<> answer(unsigned status, std::string_view type, std::string_view body) override {
    if (begun()) std::abort();
    status_ = status;
    type_ = type;
    text_ = body;
    ended_ = true;
    co_return;
  }
  void begin(unsigned status, std::string_view type) override {
    if (begun()) std::abort();
    status_ = status;
    type_ = type;
  }
  bool write_now(std::string_view piece) override {
    text_ += piece;
    return true;
  }
  Task<> write(std::string_view piece) override {
    text_ += piece;
    co_return;
  }
  Task<> end(std::string_view last) override {
    text_ += last;
    ended_ = true;
    co_return;
  }

  void check() const {
    if (!ended_) std::abort();
    fuzz::check_body(status_, type_, text_);
    if (status_ >= 400 && text_.find("engine") == text_.npos) std::abort();
  }

 private:
  std::string type_, text_;
  bool ended_ = false;
};

/// Does the text have a whole request?
bool is_whole(std::string_view text) {
  constexpr std::string_view kSize = "Content-Length: ";
  const std::size_t end = text.find("\r\n\r\n"), at = text.find(kSize);
  if (end == text.npos) return false;
  return at > end || text.size() >= end + 4 + static_cast<std::size_t>(std::atoi(text.data() + at + kSize.size()));
}

/// Answers one request, whatever it is, and closes the connection.
Task<> play(Local engine, std::string_view answer, std::size_t piece) {
  boost::system::error_code failed;
  std::string request;
  char read[4096];
  while (!failed && !is_whole(request)) {
    auto caught = asio::redirect_error(asio::use_awaitable, failed);
    const std::size_t size = co_await engine.async_read_some(asio::buffer(read), caught);
    request.append(read, size);
  }
  for (; !failed && !answer.empty(); answer.remove_prefix(std::min(piece, answer.size()))) {
    auto caught = asio::redirect_error(asio::use_awaitable, failed);
    const auto bytes = asio::buffer(answer.data(), std::min(piece, answer.size()));
    co_await asio::async_write(engine, bytes, caught);
    co_await asio::post(engine.get_executor(), asio::use_awaitable);
  }
}

class Engine {
 public:
  Engine(std::string_view kind, std::string_view answer, std::size_t piece) {
    Result<std::unique_ptr<Backend>> opened =
        open_backend(kind, {.address = {.host = "127.0.0.1", .port = "1"}, .model = "m"});
    if (!opened) std::abort();
    backend = std::move(*opened);
    constexpr int kMost = 4;  // requests
    for (int i = 0; i < kMost; ++i) {
      int ends[2];
      if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::abort();
      static_cast<HttpEngine&>(*backend).client().use(ends[0]);
      Local socket(context, asio::local::stream_protocol(), ends[1]);
      asio::co_spawn(context, play(std::move(socket), answer, piece), asio::detached);
    }
  }

  asio::io_context context{1};
  std::shared_ptr<Backend> backend;
};

/// One gateway for all inputs, whose model has another engine each time.
struct Served {
  std::shared_ptr<ServedModel> model = [] {
    auto made = std::make_shared<ServedModel>(ServedModel{
        .name = "m", .backend = nullptr, .reader = fuzz::reader_of(true), .tokenizer = fuzz::byte_tokenizer()});
    if (!complete(*made)) std::abort();
    return made;
  }();
  Gateway gateway{{.most_sessions = 64, .most_session_bytes = std::size_t{1} << 22},
                  {.models = {model}},
                  Log(LogLevel::debug, [](std::string_view line) { fuzz::must_be_json(line); })};
};

/// `checked`: the engine was asked before what it is.
void ask(Served& served, Engine& engine, const Asked& asked, bool checked) {
  served.model->backend = engine.backend;
  if (checked) engine.backend->remember({.model = "m", .context = 4096});
  Client client(asked);
  std::exception_ptr failed;
  asio::co_spawn(engine.context, served.gateway.handle(client, 0), [&](std::exception_ptr what) {
    failed = std::move(what);
    engine.context.stop();
  });
  engine.context.run();
  if (failed) std::rethrow_exception(failed);
  client.check();
  served.model->backend = nullptr;
  served.gateway.sessions().drop_models([](const auto&) { return true; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Served& served = *new Served;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  constexpr std::size_t kChoices = 3;
  if (input.size() <= kChoices) return 0;
  const auto choice = [&](std::size_t at) { return static_cast<unsigned char>(input[at]); };
  const std::string_view answer = input.substr(kChoices);
  const std::size_t piece = choice(2) == 0 ? answer.size() : choice(2) * std::size_t{2};
  Engine engine(backend_kinds()[choice(0) % backend_kinds().size()]->name, answer, piece);
  ask(served, engine, kAsked[(choice(1) & 127) % std::size(kAsked)], (choice(1) & 128) == 0);
  return 0;
}
