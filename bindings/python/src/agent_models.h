// Who replies to an agent of Python: a function of its that samples, or one that gives whole replies.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "errors.h"
#include "parlance/agent.h"
#include "prompt.h"
#include "tokenizers.h"

namespace parlance::python {

/// What Python raised ends the run, and is raised again behind it.
template <typename Call>
auto calling(const Call& call) -> Result<decltype(call())> {
  try {
    return call();
  } catch (nb::python_error& error) {
    keep_raised(error);
    return Error(ErrorCode::python_runtime, error.what());
  } catch (const nb::cast_error&) {
    return Error(ErrorCode::type, "a function of the agent's gave something of another type");
  }
}

inline nb::str str_of(std::string_view text) { return nb::str(text.data(), text.size()); }

/// Messages as a request has them, as new Python objects.
nb::list list_of(std::span<const Message> messages);
/// A conversation of a list of Python. Raises as Template.render() does.
Conversation conversation_of(nb::handle list);

/// A model, and how many messages of its agent's it knows: a run that goes on asks it for no more than is new. Of
/// Python it holds the template alone, so that a function that leads back to the agent is no cycle.
class PyAgentModel {
 public:
  /// Sampled by the function, with a grammar in this syntax.
  PyAgentModel(std::shared_ptr<const Engine> engine, const PyTokenizer& tokenizer,
               const std::optional<std::string>& grammar, std::optional<std::size_t> context);
  /// Whole replies are the function's.
  explicit PyAgentModel(std::optional<std::size_t> context);
  PyAgentModel(const PyAgentModel&) = delete;

  AgentModel& model() { return *model_; }

  std::size_t known = 0;
  nb::handle function{};  ///< while a run lasts

 private:
  std::shared_ptr<const Engine> engine_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::unique_ptr<AgentModel> model_;
};

}  // namespace parlance::python
