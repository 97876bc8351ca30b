// A folder of files that goes away with the test, and short ways to compare what a source says.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <string>

#include "parlance/source.h"

namespace parlance {

using Texts = std::map<std::string, std::string>;

class ModelFolder {
 public:
  explicit ModelFolder(const Texts& files) {
    path_ = std::filesystem::path(::testing::TempDir()) /
            ("parlance-" + std::to_string(++count_) + "-" + std::to_string(::getpid()));
    std::filesystem::create_directories(path_);
    for (const auto& [name, text] : files) write(name, text);
  }
  ModelFolder(const ModelFolder&) = delete;
  ~ModelFolder() { std::filesystem::remove_all(path_); }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::FILE* file = std::fopen((path_ / name).c_str(), "wb");
    std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
  }
  std::string path() const { return path_.string(); }
  std::string path(const std::string& name) const { return (path_ / name).string(); }
  Result<ModelSource> open() const { return open_model(path()); }
  Result<ModelSource> open(const std::string& name, const ModelStores& stores = {}) const {
    return open_model(path(name), stores);
  }

 private:
  static inline int count_ = 0;
  std::filesystem::path path_;
};

inline Texts texts(const ModelSource& source) {
  Texts texts;
  for (const NamedTemplate& t : source.templates) texts[t.name] = t.text;
  return texts;
}
inline Texts tokens(const ModelSource& source) {
  Texts tokens;
  for (const SpecialToken& t : source.special_tokens) tokens[t.name] = t.text;
  return tokens;
}
/// "role: content" of each message.
inline std::vector<std::string> messages(const ModelSource& source) {
  std::vector<std::string> all;
  for (const SourceMessage& m : source.messages) all.push_back(m.role + ": " + m.content);
  return all;
}
/// "name=value" of each parameter.
inline std::vector<std::string> parameters(const ModelSource& source) {
  std::vector<std::string> all;
  for (const SourceParameter& p : source.parameters) all.push_back(p.name + "=" + p.value);
  return all;
}
/// The error, which must be there, as a person sees it; with its code's name in front.
inline std::string failure(const Result<ModelSource>& opened) {
  if (opened) return "no failure";
  return std::string(facts(opened.error().code()).name) + " " + opened.error().display();
}

}  // namespace parlance
