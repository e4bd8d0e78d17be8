// A hash table from keys to values that grows only: readers take no lock and allocate nothing, writers take turns.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tk::runtime {

template <typename T> class CodeTable {
public:
  CodeTable() { current.store(newTable(16), std::memory_order_relaxed); }
  CodeTable(const CodeTable &) = delete;
  CodeTable &operator=(const CodeTable &) = delete;

  /// Null when the key is not there. The value lives as long as the table does. Any thread, any time.
  const T *find(std::string_view key, uint64_t hash) const {
    const Table &table = *current.load(std::memory_order_acquire);
    for (uint64_t i = hash;; ++i) {
      const Node *node = table.slots[i & table.mask].load(std::memory_order_acquire);
      if (!node)
        return nullptr;
      if (node->hash == hash && node->key == key)
        return &node->value;
    }
  }
  /// Under the writers' lock, for a key that is not there.
  const T &insert(std::string_view key, uint64_t hash, T value) {
    nodes.push_back(std::unique_ptr<Node>(new Node{hash, std::string(key), std::move(value)}));
    Table *table = current.load(std::memory_order_relaxed);
    if (2 * nodes.size() > table->mask) { // readers may still be in the old one, which therefore stays
      table = newTable(2 * (table->mask + 1));
      for (const auto &node : nodes)
        put(*table, *node);
      current.store(table, std::memory_order_release);
    } else {
      put(*table, *nodes.back());
    }
    return nodes.back()->value;
  }
  /// Under the writers' lock.
  size_t size() const { return nodes.size(); }

private:
  struct Node {
    uint64_t hash;
    std::string key;
    T value;
  };
  struct Table {
    uint64_t mask;
    std::unique_ptr<std::atomic<const Node *>[]> slots;
  };
  Table *newTable(uint64_t size) {
    tables.push_back(std::make_unique<Table>(Table{size - 1, std::make_unique<std::atomic<const Node *>[]>(size)}));
    return tables.back().get();
  }
  static void put(Table &table, const Node &node) {
    uint64_t i = node.hash;
    while (table.slots[i & table.mask].load(std::memory_order_relaxed))
      ++i;
    table.slots[i & table.mask].store(&node, std::memory_order_release);
  }

  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<std::unique_ptr<Table>> tables;
  std::atomic<Table *> current{nullptr};
};

} // namespace tk::runtime
