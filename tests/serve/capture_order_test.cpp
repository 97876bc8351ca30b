// The records of a file stand in the order in which they were given, also those that nobody waits for.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "parlance/source.h"
#include "serve/capture/capture.h"

namespace parlance::serve {
namespace {

constexpr int kRecords = 300;

class CaptureOrder : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/parlance-capture-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<Capture> open(CaptureSync turns) const {
    Result<std::unique_ptr<CaptureFiles>> files = CaptureFiles::open(folder_);
    return std::make_unique<Capture>(std::move(*files), false, turns);
  }

  static CaptureEntry entry(const std::string& file, int number) {
    return {.file = file, .head = "head", .record = std::to_string(number)};
  }

  std::string text_of(const std::string& file) const { return *read_file(folder_ + "/" + file); }

  static std::string in_order() {
    std::string text = "head\n";
    for (int number = 0; number < kRecords; ++number) text += std::to_string(number) + "\n";
    return text;
  }

  std::string folder_;
};

TEST_F(CaptureOrder, OfRecordsThatNobodyWaitsFor) {
  const std::vector<std::string> names = {"a", "b", "c"};
  const std::unique_ptr<Capture> capture = open(CaptureSync::at_once);
  std::vector<std::thread> sessions;
  for (const std::string& name : names)
    sessions.emplace_back([&capture, name] {
      for (int number = 0; number < kRecords; ++number) capture->write_later(entry(name, number));
    });
  for (std::thread& session : sessions) session.join();
  capture->wait();
  for (const std::string& name : names) EXPECT_EQ(text_of(name), in_order()) << name;
}

TEST_F(CaptureOrder, OfAnAgentsOwnRecordsAndItsTurns) {
  const std::unique_ptr<Capture> capture = open(CaptureSync::later);
  for (int number = 0; number < kRecords; ++number) {
    if (number % 3 == 0)
      capture->write_later(entry("a", number));
    else
      EXPECT_EQ(capture->write_now(entry("a", number)), "");
  }
  capture->wait();
  EXPECT_EQ(text_of("a"), in_order());
}

TEST_F(CaptureOrder, AllIsThereAtTheEnd) {
  open(CaptureSync::at_once)->wait();  // of nothing
  {
    const std::unique_ptr<Capture> capture = open(CaptureSync::at_once);
    for (int number = 0; number < kRecords; ++number) capture->write_later(entry("a", number));
  }
  EXPECT_EQ(text_of("a"), in_order());
}

}  // namespace
}  // namespace parlance::serve
