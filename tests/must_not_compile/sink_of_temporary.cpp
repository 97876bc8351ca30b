// A ReplySink refers to what it is made of, which must have a name.
#include "parlance/parlance.h"

void read(parlance::ReplyParser& parser, parlance::ReplyMessage& message) {
#ifdef WRONG
  const parlance::ReplySink sink = [&](const parlance::ReplyEvent& event) { message.add(event); };
#else
  const auto take = [&](const parlance::ReplyEvent& event) { message.add(event); };
  const parlance::ReplySink sink = take;
#endif
  parser.feed("text", sink);
  parser.finish([&](const parlance::ReplyEvent& event) { message.add(event); });
}
