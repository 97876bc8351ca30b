// A reader is made of a format that was found valid.
#include "parlance/parlance.h"

std::size_t held(const parlance::ReplyFormat& format) {
#ifdef WRONG
  const parlance::ReplyParser parser(format);
#else
  const auto compiled = parlance::CompiledReplyFormat::make(format);
  if (!compiled) return 0;
  const parlance::ReplyParser parser(*compiled);
#endif
  return parser.held();
}
