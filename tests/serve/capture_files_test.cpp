// The files of a capture: more of them than may be open, files larger than the memory, and files that go.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "parlance/json.h"
#include "parlance/source.h"
#include "serve/capture/files.h"
#include "serve/capture/record.h"

namespace parlance::serve {
namespace {

class CaptureFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    // Many files are made, and their names synced: in memory, where there is a folder for it.
    const bool has_memory = std::filesystem::is_directory("/dev/shm");
    std::string name = std::string(has_memory ? "/dev/shm" : "/tmp") + "/parlance-capture-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    files_ = std::move(*CaptureFiles::open(folder_));
  }
  void TearDown() override {
    files_.reset();
    std::filesystem::remove_all(folder_);
  }

  void append(const std::string& file, const std::string& record) const {
    const Result<void> done = files_->append({.file = file,
                                              .head = R"({"record": "head", "format": 1})",
                                              .grammar = R"({"record": "grammar", "sha256": "g"})",
                                              .grammar_hash = "g",
                                              .record = record,
                                              .sync = false});
    ASSERT_TRUE(done) << done.error().message();
  }
  /// So that no descriptor is left of those before.
  void append_to_others() const {
    for (int number = 0; number < 600; ++number) append("other" + std::to_string(number), "{}");
  }
  std::string path_of(const std::string& file) const { return folder_ + "/" + file; }
  static std::string text_with(const std::string& records) {
    return R"({"record": "head", "format": 1})"
           "\n"
           R"({"record": "grammar", "sha256": "g"})"
           "\n" +
           records;
  }

  std::string folder_;
  std::unique_ptr<CaptureFiles> files_;
};

/// Bytes that this process has read.
std::int64_t bytes_read() {
  std::ifstream file("/proc/self/io");
  std::string word;
  std::int64_t bytes = -1;
  while (file >> word && word != "rchar:") {
  }
  file >> bytes;
  return bytes;
}

TEST_F(CaptureFilesTest, OneThatWasClosedIsNotReadAgain) {
  const std::string large = std::string(std::size_t{8} << 20, ' ');
  append("large", large);
  append_to_others();
  const std::uint64_t version = files_->version("large");
  const std::int64_t before = bytes_read();
  ASSERT_GT(before, 0);
  append("large", "{}");
  EXPECT_LT(bytes_read() - before, 1 << 20);
  EXPECT_EQ(files_->version("large"), version);
  EXPECT_EQ(*read_file(path_of("large")), text_with(large + "\n{}\n"));
}

TEST_F(CaptureFilesTest, OneThatWasClosedAndChangedIsReadAgain) {
  append("a", "1");
  append_to_others();
  std::ofstream(path_of("a"), std::ios::app) << "torn";
  append("a", "2");
  EXPECT_EQ(*read_file(path_of("a")), text_with("1\n2\n"));
}

TEST_F(CaptureFilesTest, OneOfMoreThanTwoGigabytesIsAppendedTo) {
  constexpr off_t kSize = (off_t{2} << 30) + 4096;
  const int file = ::open(path_of("a").c_str(), O_WRONLY | O_CREAT, 0600);
  const std::string begin = text_with("");
  ASSERT_EQ(::write(file, begin.data(), begin.size()), static_cast<ssize_t>(begin.size()));
  ASSERT_EQ(::pwrite(file, "\n", 1, kSize - 1), 1);  // before it is a hole
  ::close(file);
  append("a", "{}");
  EXPECT_EQ(std::filesystem::file_size(path_of("a")), static_cast<std::uintmax_t>(kSize) + 3) << "no second head";
}

TEST_F(CaptureFilesTest, OneThatWasRemovedIsAnother) {
  append("a", "1");
  const std::uint64_t first = files_->version("a");
  EXPECT_NE(first, 0U);
  std::filesystem::remove(path_of("a"));
  EXPECT_EQ(files_->version("a"), 0U);
  append("a", "2");
  const std::uint64_t second = files_->version("a");
  append_to_others();
  EXPECT_EQ(files_->version("a"), second);
  std::filesystem::remove(path_of("a"));
  append("a", "3");  // it may get the inode of the one before, which nobody has open
  EXPECT_EQ(*read_file(path_of("a")), text_with("3\n"));
  const std::uint64_t third = files_->version("a");
  EXPECT_NE(third, 0U);
  EXPECT_TRUE(first != second && second != third && first != third);
}

/// A head whose tokenizer has these files, by their names and hashes.
Document head(const std::string& files, const std::string& kind = "BPE", const std::string& more = "") {
  Document made;
  (void)made.parse(R"({"templates": [], "tokenizer": {"kind": ")" + kind + R"(", "vocabulary": 9, "files": [)" + files +
                   "]" + more + "}}");
  return made;
}

TEST(CaptureHeads, NameTheSameTokenizerWhereWhatBothListIsTheSame) {
  const std::string whole = R"({"path": "/a/tokenizer.json", "sha256": "1"})";
  const std::string beside = R"(, {"path": "/a/config.json", "sha256": "2"})";
  const auto same = [](const Document& a, const Document& b) {
    return have_same_tokenizer(a.root(), b.root()) && have_same_tokenizer(b.root(), a.root());
  };
  EXPECT_TRUE(same(head(whole), head(whole + beside))) << "another version lists more";
  EXPECT_TRUE(same(head(whole), head(R"({"path": "/b/tokenizer.json", "sha256": "1"})"))) << "another folder";
  EXPECT_FALSE(same(head(whole + beside), head(whole + R"(, {"path": "/a/config.json", "sha256": "3"})")));
  EXPECT_FALSE(same(head(whole), head(R"({"path": "/a/tokenizer.json", "sha256": "2"})")));
  EXPECT_FALSE(same(head(whole), head(R"({"path": "/a/tekken.json", "sha256": "2"})"))) << "none of one name";
  EXPECT_FALSE(same(head(whole), head(whole, "tekken")));
  EXPECT_TRUE(same(head(""), head("")));
  const std::string complete = R"(, "complete": true)";
  EXPECT_TRUE(same(head(whole), head(whole + beside, "BPE", complete)));
  EXPECT_FALSE(same(head(whole, "BPE", complete), head(whole + beside, "BPE", complete))) << "both list all";
}

}  // namespace
}  // namespace parlance::serve
