// PartReader: reads one part of a call that no marker ends by itself: arguments of one codec, or an object that is a
// call.
//
//     codec      file                   the part
//     json       object_reader.*        {"city": "Paris"}; and an object that is the call, {"name": …, "arguments": …}
//     keywords   python_reader.cpp      (city="Paris", days=3)
//     bare       bare_reader.cpp        {city:<|"|>Paris<|"|>}
//     tags       tags_reader.*          <p=city>Paris</p>
//     code       program_reader.cpp     print(1 + 1)
//
// A reader has its own state, writes events, and answers with a Step; it does not know what comes next. To add a codec,
// write a reader in a file of its own, declare its maker here, and name it in part_reader.cpp. Begin reading at
// PartReader.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace parlance {
struct CallPart;
}

namespace parlance::reply {

class Reading;
struct Call;

/// How a reader stands behind the bytes that it took. What it held and is none of its part it gives back.
struct Step {
  enum class What : std::uint8_t {
    more,     ///< it goes on with the next byte
    done,     ///< the part is over, and where `literal`, so is the one behind it
    missing,  ///< nothing stands there, if the literal behind it follows
    object,   ///< JSON stands there in place of what should
    over,     ///< the call is over and no other follows; perhaps a marker of those around it was met (Handed::met)
    failed,   ///< the next byte cannot stand there: Handed::expected says what could, and `lost` was taken too soon
  };
  Step(What stands = What::more, bool literal_too = false, bool lacks_nothing = true)
      : what(stands), literal(literal_too), complete(lacks_nothing) {}

  What what;
  bool literal : 1;
  bool complete : 1;  ///< over: the call lacks nothing
};

/// Error recovery in a section or list: finds by its brackets where an item that went wrong ends, so that the next one
/// can be read.
struct Recovery {
  bool python = false;  ///< round brackets and both quotes; else braces and double quotes
  bool escape = false;
  char quote = 0;  ///< of the string that is open
  std::uint16_t depth = 0;
  enum class Next : std::uint8_t { more, over, over_before };
  Next feed(char c, bool list);
};

/// The name of a call that the end of the reply cut off: had its object begun, and what should have stood behind its
/// last byte?
struct CutName {
  bool begun = false;
  bool in_text = false;  ///< of JSON, behind which `expected` should have stood
  std::string_view expected{};
};

class PartReader {
 public:
  virtual ~PartReader() = default;

  /// Reads from `p` on, and moves `p` behind what it took.
  Step read(const char*& p, const char* end, Reading& in);
  /// The reply ends. None where nothing is held that can be settled; else how the reader stands then.
  std::optional<Step> finish(Reading& in);
  /// Says what the end of the reply cut off before it was certain, and takes it out of `held` if it was there.
  void cut_off(std::string& held, Reading& in) {
    in_ = &in;
    say_cut_off(held);
  }

  /// Begins anew with this part, as if it had just been made. False: it is the reader of another kind of part.
  virtual bool restart(const CallPart&, const Reading&) { return false; }
  /// How many bytes it holds besides Reading::held.
  virtual std::size_t held(const Call&) const { return 0; }
  /// Framing behind the marker before it is an event of its own.
  virtual bool takes_framing() const { return true; }
  /// Whether brackets tell where it ends when it went wrong; then how many are open.
  virtual bool measure(Recovery&, const Reading&) const { return false; }
  virtual CutName cut_name() const { return {}; }
  virtual std::unique_ptr<PartReader> clone() const = 0;
  virtual std::size_t size() const = 0;

 protected:
  virtual void read_part(const char*& p, const char* end) = 0;
  virtual bool finish_part() { return false; }
  virtual void say_cut_off(std::string&) {}

  Reading& in() const { return *in_; }
  void answer(Step step);
  void fail(std::string_view expected);

 private:
  Reading* in_ = nullptr;  ///< while a call of one of the functions above lasts
};

/// What each reader derives from.
template <class Self>
class PartReaderOf : public PartReader {
 public:
  std::unique_ptr<PartReader> clone() const override { return std::make_unique<Self>(static_cast<const Self&>(*this)); }
  std::size_t size() const override { return sizeof(Self); }
};

/// A reader, or none. Copies have copies of it.
class ReaderBox {
 public:
  ReaderBox() = default;
  ReaderBox(const ReaderBox& other) : reader_(other.reader_ ? other.reader_->clone() : nullptr) {}
  ReaderBox(ReaderBox&&) noexcept = default;
  ReaderBox& operator=(const ReaderBox& other) { return *this = ReaderBox(other); }
  ReaderBox& operator=(ReaderBox&&) noexcept = default;
  ReaderBox& operator=(std::unique_ptr<PartReader> reader) noexcept {
    reader_ = std::move(reader);
    return *this;
  }
  explicit operator bool() const { return reader_ != nullptr; }
  PartReader* operator->() const { return reader_.get(); }
  void reset() { reader_.reset(); }

 private:
  std::unique_ptr<PartReader> reader_;
};

/// Lets `reader` read the part that is due, which is an object or arguments: what was there begins anew, or another
/// takes its place.
void begin_reader(ReaderBox& reader, const CallPart& part, Reading& in);

std::unique_ptr<PartReader> object_reader(const Reading& in, bool is_call);
std::unique_ptr<PartReader> python_reader(const Reading& in);
std::unique_ptr<PartReader> bare_reader(const Reading& in);
std::unique_ptr<PartReader> tags_reader(const Reading& in);
/// Says the beginning of the object that the program becomes.
std::unique_ptr<PartReader> program_reader(Reading& in);

}  // namespace parlance::reply
