// A model of an agent goes on using its tokenizer, also one of a derived class.
#include "parlance/parlance.h"

std::unique_ptr<parlance::AgentModel> model(const parlance::RequestReader& reader) {
#ifdef WRONG
  return parlance::make_session_model({.reader = reader, .tokenizer = parlance::CallbackTokenizer({}), .sample = {}});
#else
  static const parlance::CallbackTokenizer tokenizer({});
  return parlance::make_session_model({.reader = reader, .tokenizer = tokenizer, .sample = {}});
#endif
}
