// A format is compiled by make(), which may refuse it.
#include "parlance/parlance.h"

std::size_t ends(const parlance::ReplyFormat& format) {
#ifdef WRONG
  const parlance::CompiledReplyFormat compiled(format);
  return compiled.source().end.size();
#else
  const auto compiled = parlance::CompiledReplyFormat::make(format);
  return compiled ? compiled->source().end.size() : 0;
#endif
}
