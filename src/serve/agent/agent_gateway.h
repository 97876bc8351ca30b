// AgentGateway: the gateway's part of `parlance agent`: a model with its engine, sessions and capture, in one process
// and without a server. No header of the network is needed for it.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parlance/agent.h"
#include "serve/serve.h"

namespace parlance::serve {

/// How a run ended, as its capture has it.
struct RecordedEnd {
  std::string reason;  ///< as name_of(AgentEnd::Reason) has it
  std::string sentence;
  bool is_done() const { return reason == name_of(AgentEnd::Reason::done); }
};

/// An agent's run as its capture has it.
struct RecordedAgent {
  std::string session;
  std::string goal;
  std::string settings;  ///< as they were written
  AgentHistory history;
  std::string last_response;         ///< id of the last answer, which the gateway's sessions have now
  bool ends_whole = true;            ///< false: the last line was torn, as a crash leaves it
  std::string version{};             ///< of the parlance that wrote last
  std::optional<RecordedEnd> end{};  ///< unset: it was killed, or goes on behind an end, or nobody wrote it down
};

struct AgentGatewayOptions {
  std::string session;              ///< its name
  std::string settings = "{}";      ///< an object with members of each request: max_tokens, temperature, seed…
  std::string capture{};            ///< a folder for the transcript; "": there is none
  std::function<bool()> stopped{};  ///< asked while the engine samples; true ends the request
  std::function<void()> flush{};    ///< called behind the events of tokens that came together
  std::function<void(std::string_view sentence)> note{};  ///< what the user should know: the engine is asked again
  std::function<void(std::string_view line)> log{};
};

/// Threads: one.
class AgentGateway {
 public:
  /// Asks the engine what it is; `warnings` gets what is to be known of it. Fails with usage, file, and as
  /// RequestReader::stop_tokens() does.
  static Result<std::unique_ptr<AgentGateway>> open(ModelOptions model, AgentGatewayOptions options,
                                                    std::vector<std::string>& warnings);
  ~AgentGateway();

  AgentModel& model();
  /// Writes to the transcript, if there is one. A tool's begin is on the disk when this returns, with all that was
  /// written before it; the rest is when the next one is, or with the end of the gateway. Fail with file.
  Result<void> write_goal(std::string_view goal, const std::string& settings);
  Result<void> write(const AgentEvent& event);
  /// Is on the disk when this returns.
  Result<void> write_end(const AgentEnd& end);
  /// Where the transcript is; "": nowhere.
  std::string transcript() const;
  /// Reads a transcript, samples its turns once more from the record, so that the model has their ids, and goes on
  /// behind them. It must be called before anything else. Fails with file, value (no transcript, another template or
  /// tokenizer).
  Result<RecordedAgent> restore(const std::string& file);

 private:
  struct State;
  explicit AgentGateway(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// What a transcript says of how it was made, without playing it. Fails as AgentGateway::restore() does.
struct TranscriptHead {
  std::string source;  ///< how the model was opened: the argument of read_source()
  std::string session;
  std::string goal;
  std::string settings;
};
Result<TranscriptHead> read_transcript_head(const std::string& file);

}  // namespace parlance::serve
