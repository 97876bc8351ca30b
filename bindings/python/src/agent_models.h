// Who replies to an agent of Python: a function of its that samples, or one that gives whole replies.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "errors.h"
#include "gil.h"
#include "in_use.h"
#include "parlance/agent.h"
#include "prompt.h"
#include "tokenizers.h"

namespace parlance::python {

/// The first exception that a function of Python's raised within a run, which ends by it. Each run has its own: a tool
/// may use the package, and run another agent.
class Raised {
 public:
  /// Calls it. Unset where it raised, or gave what is of another type.
  template <typename Call>
  auto calling(const Call& call) -> Result<decltype(call())> {
    try {
      const Aside aside(*this);
      return call();
    } catch (nb::python_error& error) {
      keep(nb::borrow(error.value()));
    } catch (const nb::cast_error&) {
      keep(nb::borrow(PyExc_TypeError)("a function of the agent's gave something of another type"));
    }
    return Error(ErrorCode::python_runtime, "a function raised");
  }
  explicit operator bool() const { return first_.is_valid(); }
  /// Raises it again, if there is one.
  void raise_again();
  /// A lock that is held already, but not while a function of Python's runs; null: none.
  void hold(nb::ft_mutex* lock) { held_ = lock; }

 private:
  /// Without the lock, as long as it lives: a function may itself be called by one of these.
  class Aside {
   public:
    explicit Aside(Raised& raised) : raised_(raised), lock_(std::exchange(raised.held_, nullptr)) {
      if (lock_ != nullptr) lock_->unlock();
    }
    Aside(const Aside&) = delete;
    Aside& operator=(const Aside&) = delete;
    ~Aside() {
      if (lock_ == nullptr) return;
      at_lock([&] { lock_->lock(); });
      raised_.held_ = lock_;
    }

   private:
    Raised& raised_;
    nb::ft_mutex* const lock_;
  };

  void keep(nb::object exception) {
    if (!first_.is_valid()) first_ = std::move(exception);
  }
  nb::object first_;
  nb::ft_mutex* held_ = nullptr;
};

/// How messages are given to Python.
enum class Arguments : bool {
  objects,  ///< of a call as an object, as chat templates want them
  texts,    ///< as the text that the model wrote, as OpenAI's API wants them
};
/// Messages as a request has them, as new Python objects. Raises where one cannot be.
nb::list list_of(std::span<const Message> messages, Arguments arguments);
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
  Arguments arguments() const { return engine_ ? Arguments::objects : Arguments::texts; }

  std::size_t known = 0;
  InUse in_use{};
  /// While a run lasts.
  struct Running {
    nb::handle function;
    Raised* raised = nullptr;
  };
  Running running{};

 private:
  std::shared_ptr<const Engine> engine_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::unique_ptr<AgentModel> model_;
};

}  // namespace parlance::python
