// The files of the inspector's page, src/serve/inspect/page, as the program carries them.
#pragma once
#include <string>
#include <string_view>

namespace parlance::serve {

struct PageFile {
  std::string_view type;  ///< Content-Type
  std::string_view text;
  std::string tag;  ///< ETag: another text has another
};

/// The file for a path: "/inspect" is the page, "/inspect/NAME" a part of it. Null: there is none.
const PageFile* page_file(std::string_view path);

}  // namespace parlance::serve
