// A model of an agent goes on using its reader.
#include "parlance/parlance.h"

std::unique_ptr<parlance::AgentModel> model(parlance::ModelSource source, const parlance::Tokenizer& tokenizer) {
#ifdef WRONG
  return parlance::make_session_model(
      {.reader = parlance::RequestReader(source), .tokenizer = tokenizer, .sample = {}});
#else
  static const parlance::RequestReader reader(source);
  return parlance::make_session_model({.reader = reader, .tokenizer = tokenizer, .sample = {}});
#endif
}
