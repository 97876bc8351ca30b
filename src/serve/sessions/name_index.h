// NameIndex: finds the newest of things that have the same name. Each thing has several names.
#pragma once
#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace parlance::serve {

/// Adding, finding and taking away cost the same however many there are. `Place`: where a thing is, kept by value.
/// Threads: one at a time.
template <class Place>
class NameIndex {
 public:
  /// The names of one thing while it is in the index.
  class Names {
   public:
    explicit Names(std::vector<std::string> texts = {}) {
      all_.reserve(texts.size());
      for (std::string& text : texts) {
        const std::size_t hash = std::hash<std::string_view>()(text);
        all_.push_back({.text = std::move(text), .hash = hash});
      }
    }
    Names(Names&&) noexcept = default;
    Names& operator=(Names&&) noexcept = default;
    const std::string& first() const { return all_.front().text; }
    /// About the memory of them and of their places in the index.
    std::size_t bytes() const {
      constexpr std::size_t kNode = 64;  // of a table
      std::size_t bytes = 0;
      for (const Name& name : all_) bytes += sizeof(Name) + name.text.size() + kNode;
      return bytes;
    }

   private:
    friend class NameIndex;
    struct Name {
      std::string text;
      std::size_t hash = 0;
      Place place{};
      Name* newer = nullptr;  ///< of the same text
      Name* older = nullptr;
    };
    std::vector<Name> all_;  ///< stays as long as it is made: others point into it
  };

  /// What is put in is newer than all that is there. `names` must stay where they are until they are taken out; moving
  /// them is allowed.
  void put(Names& names, Place place) {
    for (Name& name : names.all_) {
      name.place = place;
      name.newer = name.older = nullptr;
      Table& table = table_of(name.hash);
      const auto [found, is_alone] = table.try_emplace(Key{name.text, name.hash}, &name);
      if (is_alone) continue;
      name.older = found->second;
      name.older->newer = &name;
      table.erase(found);
      table.emplace(Key{name.text, name.hash}, &name);
    }
  }

  void take_out(Names& names) {
    for (Name& name : names.all_) {
      if (name.older != nullptr) name.older->newer = name.newer;
      if (name.newer != nullptr) {
        name.newer->older = name.older;
        continue;
      }
      Table& table = table_of(name.hash);
      table.erase(Key{name.text, name.hash});
      if (name.older != nullptr) table.emplace(Key{name.older->text, name.older->hash}, name.older);
    }
  }

  /// Null: there is none.
  const Place* newest(std::string_view name) const {
    const Key key{name, std::hash<std::string_view>()(name)};
    const Table& table = tables_[number_of(key.hash)];
    const auto found = table.find(key);
    return found == table.end() ? nullptr : &found->second->place;
  }

 private:
  using Name = typename Names::Name;
  struct Key {
    std::string_view text;
    std::size_t hash;
    bool operator==(const Key& other) const { return hash == other.hash && text == other.text; }
  };
  struct HashOfKey {
    using is_avalanching = void;  // as the hash of a text is
    std::size_t operator()(const Key& key) const noexcept { return key.hash; }
  };
  /// Each key is the text of its own name. Millions of names are in no cache: a look at one is a miss or two.
  using Table = boost::unordered_flat_map<Key, Name*, HashOfKey>;

  // A table that becomes larger is made anew: many of them do that at different times, and each takes little.
  static constexpr std::size_t kTables = 256;
  static std::size_t number_of(std::size_t hash) { return hash / 257 % kTables; }  // not what chooses the bucket in it
  Table& table_of(std::size_t hash) { return tables_[number_of(hash)]; }

  std::array<Table, kTables> tables_;
};

}  // namespace parlance::serve
