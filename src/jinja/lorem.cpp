// The words of lipsum() and how they become sentences, as Jinja2 3.1.6 utils.py
// (generate_lorem_ipsum) does.
//
// Python's own random numbers are not reproduced, so texts differ from run to run there and by seed
// here.
#include "jinja/lorem.h"

#include <array>
#include <string_view>

namespace parlance::jinja {
namespace {

constexpr std::string_view kText =
    "a ac accumsan ad adipiscing aenean aliquam aliquet amet ante aptent arcu at auctor augue "
    "bibendum blandit class commodo condimentum congue consectetuer consequat conubia convallis "
    "cras cubilia cum curabitur curae cursus dapibus diam dictum dictumst dignissim dis dolor "
    "donec dui duis egestas eget eleifend elementum elit enim erat eros est et etiam eu euismod "
    "facilisi facilisis fames faucibus felis fermentum feugiat fringilla fusce gravida habitant "
    "habitasse hac hendrerit hymenaeos iaculis id imperdiet in inceptos integer interdum ipsum "
    "justo lacinia lacus laoreet lectus leo libero ligula litora lobortis lorem luctus maecenas "
    "magna magnis malesuada massa mattis mauris metus mi molestie mollis montes morbi mus nam "
    "nascetur natoque nec neque netus nibh nisi nisl non nonummy nostra nulla nullam nunc odio "
    "orci ornare parturient pede pellentesque penatibus per pharetra phasellus placerat platea "
    "porta porttitor posuere potenti praesent pretium primis proin pulvinar purus quam quis "
    "quisque rhoncus ridiculus risus rutrum sagittis sapien scelerisque sed sem semper senectus "
    "sit sociis sociosqu sodales sollicitudin suscipit suspendisse taciti tellus tempor tempus "
    "tincidunt torquent tortor tristique turpis ullamcorper ultrices ultricies urna ut varius "
    "vehicula vel velit venenatis vestibulum vitae vivamus viverra volutpat vulputate";
constexpr std::size_t kCount = 186;

constexpr std::array<std::string_view, kCount> kWords = [] {
  std::array<std::string_view, kCount> words{};
  std::string_view rest = kText;
  for (std::string_view& word : words) {
    word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(word.size() == rest.size() ? rest.size() : word.size() + 1);
  }
  return words;
}();

/// One paragraph: a comma every few words, a full stop every ten to twenty.
void append_paragraph(Runtime& rt, std::string& out, std::int64_t words) {
  std::int64_t last_comma = 0, last_stop = 0;
  bool capital = true;
  std::size_t last = kCount;
  for (std::int64_t i = 0; i < words && rt.charge(1); ++i) {
    std::size_t next = random_below(rt, kCount);
    while (next == last) next = random_below(rt, kCount);
    last = next;
    if (i != 0) out += ' ';
    std::size_t begin = out.size();
    out += kWords[next];
    if (capital) out[begin] = static_cast<char>(out[begin] - 32);
    capital = false;
    if (i - 3 - static_cast<std::int64_t>(random_below(rt, 5)) > last_comma) {
      last_comma = i;
      last_stop += 2;
      out += ',';
    }
    if (i - 10 - static_cast<std::int64_t>(random_below(rt, 10)) > last_stop) {
      last_comma = last_stop = i;
      out += '.';
      capital = true;
    }
  }
  if (words > 0 && out.back() == ',') out.pop_back();
  if (words <= 0 || out.back() != '.') out += '.';
}

}  // namespace

std::uint64_t random_below(Runtime& rt, std::uint64_t below) {
  std::uint64_t z = rt.random_state += 0x9E3779B97F4A7C15u;  // splitmix64
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (z ^ (z >> 31)) % below;
}

bool append_lorem(Runtime& rt, std::string& out, const LoremOptions& options) {
  constexpr std::uint64_t kLongestWord = 16;
  for (std::int64_t i = 0; i < options.paragraphs && rt.charge(1); ++i) {
    auto range =
        static_cast<std::uint64_t>(options.most) - static_cast<std::uint64_t>(options.least);
    auto words = static_cast<std::int64_t>(static_cast<std::uint64_t>(options.least) +
                                           random_below(rt, range));
    if (!rt.reserve(out.size() + kLongestWord * static_cast<std::uint64_t>(words < 0 ? 0 : words) +
                    kLongestWord)) {
      return false;
    }
    if (i != 0) out += options.html ? "\n" : "\n\n";
    if (options.html) out += "<p>";
    append_paragraph(rt, out, words);
    if (options.html) out += "</p>";
  }
  return !rt.failed();
}

}  // namespace parlance::jinja
