// Finds the files of the inspector's page. embedded_page.h is made at build time from page/: index.html, inspect.css
// and made/*.js.
#include "serve/inspect/page_files.h"

#include <map>

#include "base/sha256.h"
#include "embedded_page.h"

namespace parlance::serve {

namespace {

constexpr std::string_view kIndex = "index.html";

std::string_view type_of(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  return name.ends_with(".css") ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8";
}

std::map<std::string, PageFile, std::less<>> make_files() {
  std::map<std::string, PageFile, std::less<>> made;
  for (const EmbeddedFile& file : kEmbeddedFiles) {
    const std::string name(file.path.substr(file.path.rfind('/') + 1));  // without the folder, if there is one
    const std::string path = name == kIndex ? "/inspect" : "/inspect/" + name;
    made[path] = {type_of(name), file.text, '"' + sha256(file.text).substr(0, 16) + '"'};
  }
  return made;
}

}  // namespace

const PageFile* page_file(std::string_view path) {
  static const std::map<std::string, PageFile, std::less<>> files = make_files();
  const auto found = files.find(path);
  return found == files.end() ? nullptr : &found->second;
}

}  // namespace parlance::serve
