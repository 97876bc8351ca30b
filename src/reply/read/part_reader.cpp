// Which reader reads a part, and what all readers share; see part_reader.h. Begin reading at reader_of.
#include "reply/read/part_reader.h"

#include "reply/read/reading.h"

namespace parlance::reply {
namespace {

std::unique_ptr<PartReader> reader_of(const CallPart& part, Reading& in) {
  using Codec = CallArguments::Codec;
  if (part.kind == CallPart::Kind::object) return object_reader(in, true);
  switch (part.arguments.codec) {
    case Codec::json: return object_reader(in, false);
    case Codec::keywords: return python_reader(in);
    case Codec::bare: return bare_reader(in);
    case Codec::tags: return tags_reader(in);
    case Codec::code: return program_reader(in);
  }
  return nullptr;
}

}  // namespace

void begin_reader(ReaderBox& reader, const CallPart& part, Reading& in) {
  if (!reader || !reader->restart(part, in)) reader = reader_of(part, in);
}

void PartReader::fail(std::string_view expected) {
  in().to_driver().expected = expected;
  answer({Step::What::failed});
}

Recovery::Next Recovery::feed(char c, bool list) {
  if (quote != 0) {
    if (!escape && c == quote) quote = 0;
    escape = !escape && c == '\\';
    return Next::more;
  }
  if (c == '"' || (python && c == '\'')) quote = c;
  if (c == (python ? '(' : '{')) ++depth;
  if (c == (python ? ')' : '}') && depth != 0) return --depth == 0 ? Next::over : Next::more;
  return list && depth == 0 && (c == ',' || c == ']') ? Next::over_before : Next::more;
}

}  // namespace parlance::reply
