// Asks a gateway for an agent. Begin reading at GatewayModel::reply.
#include "serve/agent/agent_model.h"

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>

#include "parlance/json_writer.h"
#include "parlance/sampled_reply.h"
#include "serve/json/members.h"
#include "serve/models/engine.h"
#include "serve/random_id.h"
#include "serve/record/recorder.h"

namespace parlance::serve {

namespace {

/// AgentReply::prefix_break behind a reply that no template can write again.
constexpr std::string_view kBrokenOffReply =
    "the reply before breaks off within a call, which no template writes: the conversation begins anew from its text";

/// Ends what runs soon after `stopped` says so.
class Watch {
 public:
  Watch(asio::io_context& context, const std::function<bool()>& stopped) : stopped_(stopped), timer_(context) {
    wait();
  }
  asio::cancellation_slot slot() { return signal_.slot(); }
  /// The timer may have run out already, with its handler still to come.
  void end() {
    ended_ = true;
    timer_.cancel();
  }

 private:
  void wait() {
    if (!stopped_) return;
    timer_.expires_after(std::chrono::milliseconds(50));
    timer_.async_wait([this](const boost::system::error_code& ended) {
      if (ended || ended_) return;
      if (stopped_()) return signal_.emit(asio::cancellation_type::all);
      wait();
    });
  }

  const std::function<bool()>& stopped_;
  asio::steady_timer timer_;
  asio::cancellation_signal signal_;
  bool ended_ = false;
};

Error failure(const std::string& message) { return {ErrorCode::file, message}; }

constexpr const char* kMaxTokens = "max_tokens";

/// Of the user's limit of a reply and of what is left for it; 0: there is none.
std::uint64_t least_limit(Value of_reply, std::uint64_t left) {
  const std::uint64_t most = of_reply.is_small_int() ? static_cast<std::uint64_t>(of_reply.integer) : 0;
  if (most == 0 || left == 0) return std::max(most, left);
  return std::min(most, left);
}

}  // namespace

GatewayModel::GatewayModel(Gateway& gateway, std::shared_ptr<const ServedModel> model, GatewayModelOptions options)
    : gateway_(gateway), model_(std::move(model)), options_(std::move(options)) {}

GatewayModel::~GatewayModel() = default;

/// Runs it to its end. What it throws is thrown.
void GatewayModel::run(Task<> task) {
  std::exception_ptr failed;
  Watch watch(context_, options_.stopped);
  asio::co_spawn(context_, std::move(task), asio::bind_cancellation_slot(watch.slot(), [&](std::exception_ptr thrown) {
                   failed = std::move(thrown);
                   watch.end();
                 }));
  context_.restart();
  context_.run();
  if (failed) std::rethrow_exception(failed);
}

/// The engine's, or less where the user allows a prompt less: with the tenth behind it that an agent keeps for the
/// reply, which such a limit does not count.
std::optional<std::size_t> GatewayModel::context() const {
  const std::shared_ptr<const EngineInfo> info = model_->backend->info();
  std::optional<std::size_t> context;
  if (info && info->context) context = static_cast<std::size_t>(*info->context);
  const std::size_t most = model_->limits.prompt_tokens + model_->limits.prompt_tokens / 9;
  return most == 0 ? context : std::min(context.value_or(most), most);
}

Result<std::vector<std::string>> GatewayModel::check() {
  std::vector<std::string> warnings, of_text;
  model_->text_check->tell([&of_text](std::string_view warning) { of_text.emplace_back(warning); });
  const auto ask = [&]() -> Task<> {
    for (Waits waits(model_->patience);; co_await waits.pause()) {
      try {
        warnings = co_await check_engine(*model_);
        co_return;
      } catch (const EngineFailure& failed) {
        if (!waits.will_ask_again(failed)) throw;
      }
    }
  };
  try {
    run(ask());
  } catch (const std::exception& failed) {
    model_->text_check->tell(nullptr);
    return failure(failed.what());
  }
  model_->text_check->tell(nullptr);
  warnings.insert(warnings.end(), of_text.begin(), of_text.end());
  return warnings;
}

Result<std::string> GatewayModel::body_of(const AgentRequest& request) {
  if (request.anew) {
    messages_.clear();
    last_.clear();
  }
  messages_.insert(messages_.end(), request.messages.begin(), request.messages.end());
  Conversation made;
  for (const Message& message : last_.empty() ? std::span<const Message>(messages_) : request.messages)
    if (Result<void> added = made.add(message); !added) return added.error();
  JsonWriter list('[');
  for (const Value& message : made.messages().items()) list.item(json_text(message));
  Document settings;
  if (Result<void> parsed = settings.parse(options_.settings, "the settings"); !parsed) return parsed.error();
  JsonWriter body('{');
  body.text("model", model_->name).raw("messages", list.take());
  if (!request.tools.empty()) body.raw("tools", request.tools);
  append_members_without(body, settings.root(), {kMaxTokens});
  const std::uint64_t most = least_limit(settings.root()[kMaxTokens], request.most_tokens);
  if (most != 0) body.number(kMaxTokens, most);
  if (!last_.empty()) body.text("previous_response_id", last_);
  return body.take();
}

Result<Turn> GatewayModel::plan(const std::string& text) {
  Document body;
  if (Result<void> parsed = body.parse(text, "the request"); !parsed) return parsed.error();
  SessionHints hints{.session = options_.session, .response = std::string(body.root()["previous_response_id"].text())};
  return succession_.plan(model_, body.root(), text, std::move(hints));
}

Result<AgentReply> GatewayModel::reply(const AgentRequest& request, ReplySink events) {
  const Result<std::string> body = body_of(request);
  if (!body) return body.error();
  Result<Turn> turn = plan(*body);
  if (!turn) return turn.error();
  const std::string id = random_id("resp_");
  std::vector<std::string> call_ids;
  TurnRecorder recorder(gateway_, {.api = "openai", .id = id}, *turn, *body, call_ids);
  std::shared_ptr<const Held> kept;
  SampledReply replied;
  ReplyMessage& message = replied.message;
  const Turn::Take take = [&](const ReplyEvent& event) {
    replied.add(event);
    events(event);
  };
  const Turn::Flush flush = [this]() -> Task<> {
    if (options_.flush) options_.flush();
    co_return;
  };
  const auto ask = [&]() -> Task<> {
    co_await recorder.run(take, flush, {});
    for (ReplyCall& call : message.calls) {
      if (!call.id.empty()) continue;
      call_ids.push_back(random_id("call_"));
      call.id = call_ids.back();
    }
    kept = succession_.keep(*turn, call_ids, id);
    co_await recorder.done(kept);
  };
  AgentReply made{.prompt_tokens = turn->prompt_tokens(), .reused_tokens = turn->prompt().reused};
  if (broke_off_ && !request.anew && made.reused_tokens == 0) made.prefix_break = kBrokenOffReply;
  broke_off_ = false;
  if (turn->prompt().broken) made.prefix_break = turn->prompt().broken->sentence;
  try {
    run(ask());
  } catch (const std::exception& failed) {
    succession_.leave(*turn);
    const auto* const engine = dynamic_cast<const EngineFailure*>(&failed);
    made.too_long = engine != nullptr && engine->code() == "context_length_exceeded";
    if (made.too_long) return made;
    last_.clear();  // the next request has all messages: this turn's reply does not exist
    return failure(failed.what());
  }
  last_ = kept ? id : std::string();
  const std::optional<Message> whole = replied.as_message();
  broke_off_ = !whole.has_value();
  // A call that breaks off is told as its text: the model sees what it wrote.
  messages_.push_back(kept ? kept->reply : whole.value_or(replied.as_written()));
  made.message = std::move(message);
  made.length = turn->length();
  made.awaits_result = awaits_result(model_->stops, turn->sampled());
  if (turn->end().evaluated) made.evaluated_tokens = static_cast<std::size_t>(*turn->end().evaluated);
  made.sampled_tokens = turn->sampled().size();
  return made;
}

}  // namespace parlance::serve
