// Reading the JSON files of models.
#include "sources/json_file.h"

#include "sources/files.h"

namespace parlance {

Result<void> JsonFile::read(Kind kind) {
  const Result<std::string> text = read_file(path_, kMaxConfiguration);
  if (!text) return text.error();
  was_there_ = true;
  if (Result<void> parsed = document_.parse(*text, path_); !parsed) return parsed.error();
  if (document_.root().kind == kind) return {};
  return Error(ErrorCode::model_file, path_ + (kind == Kind::dict ? ": not a JSON object" : ": not a JSON list"));
}

Result<void> JsonFile::read_if_there() { return is_file(path_) ? read() : Result<void>(); }

}  // namespace parlance
