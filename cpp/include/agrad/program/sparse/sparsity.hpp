// Sparsity: the patterns of a program's Jacobian and Hessian, from the operations alone.
//
// Sets of inputs are propagated through the operations in order, by each operation's kind of dependence; an output's set is its
// row of the Jacobian's pattern. For the Hessian, operations that are curved in their operands determine which inputs meet
// (program/sparse/interactions.hpp). A pattern holds for every argument on the program's path; of all values, only constant
// zeros are used. Read first: program/machine/dependence.hpp. Read next: program/sparse/sparse.hpp, which computes the entries.
#pragma once

#include <cstring>
#include <utility>
#include <vector>

#include <agrad/base/interrupt_pace.hpp>
#include <agrad/program/schedule/unrolled.hpp>
#include <agrad/program/sparse/interactions.hpp>

namespace agrad {

namespace detail {

/// Propagates index sets through a program. wanted: the inputs of the derivatives; index j is input wanted[j].
class set_flow {
 public:
  using set = index_sets::set;

  set_flow(const program& f, const std::vector<std::uint32_t>& wanted)
      : f_(f),
        operations_(f.code()),
        sets_(wanted.size()),
        of_(f.size(), index_sets::empty),
        is_zero_(f.size(), 0),
        matters_(f.size(), 1) {
    for (slot s = 0; s < f.fixed().size(); ++s) is_zero_[s] = f.fixed()[s] == 0 ? 1 : 0;
    for (const slot s : f.inputs()) is_zero_[s] = 0;
    for (std::size_t j = 0; j < wanted.size(); ++j) {
      of_[f.inputs()[wanted[j]]] = sets_.singleton(static_cast<std::uint32_t>(j));
    }
  }

  csr_pattern jacobian() {
    for (const operation& op : operations_.operations()) carry(op);
    std::size_t entries = 0;
    for (const slot s : f_.outputs()) pace_.step(), csr_pattern::check_entries(entries += sets_.elements(of_[s]).size());
    csr_pattern p;
    p.cols = sets_.universe();
    std::vector<csr_pattern::index> row;
    for (const slot s : f_.outputs()) {
      pace_.step();
      const auto elements = sets_.elements(of_[s]);
      row.assign(elements.begin(), elements.end());
      p.append_row(row);
    }
    return p;
  }

  csr_pattern hessian() {
    interactions meet(sets_);
    meet_ = &meet;
    mark_what_matters();
    for (const operation& op : operations_.operations()) carry(op);
    return meet.pattern();
  }

 private:
  // ---- operands ------------------------------------------------------------------------------------------------------

  const std::uint32_t* integers(const operation& op) const { return f_.code().integers.data() + op.data; }
  slot slot_of(const operation& op, std::size_t k, std::size_t i) const {
    const span& x = op.operands[k];
    return x.listed ? f_.code().integers[x.first + i] : static_cast<slot>(x.first + i * x.stride);
  }
  static std::size_t size_of(const operation& op, std::size_t k) { return op.operands[k].count; }
  set at(const operation& op, std::size_t k, std::size_t i) const { return of_[slot_of(op, k, i)]; }

  set all_of(const operation& op, std::size_t first = 0) {
    list_.clear();
    for (std::size_t k = first; k < op.arity; ++k)
      for (std::size_t i = 0; i < size_of(op, k); ++i) list_.push_back(at(op, k, i));
    return sets_.unite(list_);
  }

  // ---- slots on which the outputs depend -----------------------------------------------------------------------------

  void mark_what_matters() {
    std::fill(matters_.begin(), matters_.end(), 0);
    for (const slot s : f_.outputs()) matters_[s] = 1;
    const auto& operations = operations_.operations();
    for (auto op = operations.rbegin(); op != operations.rend(); ++op) {
      if (op->what->depends.how == dependence::on_nothing) continue;
      if (op->count == 0 || std::memchr(matters_.data() + op->result, 1, op->count) == nullptr) continue;
      if (op->what->depends.how == dependence::gathered)
        for (std::size_t i = 0; i < op->count; ++i) matters_[integers(*op)[i]] = 1;
      for (std::size_t k = 0; k < op->arity; ++k)
        for (std::size_t i = 0; i < size_of(*op, k); ++i) matters_[slot_of(*op, k, i)] = 1;
    }
  }

  void curve(const operation& op, std::size_t i, set a, set b) {
    if (meet_ != nullptr && !op.what->depends.is_linear && matters_[op.result + i] != 0) meet_->add(a, b);
  }

  // ---- kinds ---------------------------------------------------------------------------------------------------------

  void carry(const operation& op) {
    pace_.step();
    switch (op.what->depends.how) {
      case dependence::on_nothing:
        return;
      case dependence::entrywise:
        return entrywise(op);
      case dependence::gathered:
        return gathered(op);
      case dependence::grouped:
        return along_lines(op, integers(op)[0], 1, op.count);
      case dependence::along_lines:
        return along_lines(op, integers(op)[0], integers(op)[1], op.count);
      case dependence::before_in_line:
      case dependence::across_lines:
      case dependence::within_lines:
        return whole_lines(op, integers(op)[0], integers(op)[1]);
      case dependence::product:
        return product(op, integers(op)[0], integers(op)[1], integers(op)[2], op.result, 0, 0);
      case dependence::products:
        return products(op);
      case dependence::terms:
        return terms(op);
      case dependence::scattered:
        return scattered(op);
      case dependence::looked_up:
        return looked_up(op);
      case dependence::on_everything:
        return on_everything(op);
    }
  }

  void on_everything(const operation& op) {
    const set all = all_of(op);
    std::fill_n(of_.begin() + op.result, op.count, all);
    for (std::size_t i = 0; i < op.count; ++i) curve(op, i, all, all);
  }

  void entrywise(const operation& op) {
    const dependence& d = op.what->depends;
    for (std::size_t i = 0; i < op.count; ++i) {
      set all = index_sets::empty;
      bool is_zero_here = false;
      pace_.step();
      for (std::size_t k = 0; k < op.arity; ++k) {
        is_zero_here = is_zero_here || ((d.zero_with >> k & 1U) != 0 && is_zero_[slot_of(op, k, i)] != 0);
        all = sets_.unite(all, at(op, k, i));
      }
      is_zero_[op.result + i] = is_zero_here ? 1 : 0;
      if (is_zero_here) continue;
      of_[op.result + i] = all;
      if (d.is_linear) continue;
      for (std::size_t k = 0; k < op.arity; ++k)
        for (std::size_t l = k; l < op.arity; ++l)
          if ((d.curved[k] >> l & 1U) != 0) curve(op, i, at(op, k, i), at(op, l, i));
    }
  }

  void gathered(const operation& op) {
    for (std::size_t i = 0; i < op.count; ++i) {
      of_[op.result + i] = of_[integers(op)[i]];
      is_zero_[op.result + i] = is_zero_[integers(op)[i]];
    }
  }

  static std::size_t begin_of_line(std::size_t i, std::size_t length, std::size_t inner) {
    return i / inner * length * inner + i % inner;
  }

  set line(const operation& op, std::size_t begin, std::size_t length, std::size_t inner) {
    list_.clear();
    for (std::size_t k = 0; k < op.arity; ++k)
      for (std::size_t j = 0; j < length; ++j) list_.push_back(at(op, k, begin + j * inner));
    return sets_.unite(list_);
  }

  void along_lines(const operation& op, std::size_t length, std::size_t inner, std::size_t lines) {
    for (std::size_t i = 0; i < lines; ++i) {
      const set all = line(op, begin_of_line(i, length, inner), length, inner);
      pace_.step();
      of_[op.result + i] = all;
      curve(op, i, all, all);
    }
  }

  void whole_lines(const operation& op, std::size_t length, std::size_t inner) {
    const bool is_before = op.what->depends.how == dependence::before_in_line;
    const bool has_half = op.what->depends.how == dependence::within_lines;
    const std::size_t entries = has_half ? op.count / 2 : op.count, lines = length == 0 ? 0 : entries / length;
    for (std::size_t i = 0; i < lines; ++i) {
      const std::size_t begin = begin_of_line(i, length, inner);
      set all = is_before ? index_sets::empty : line(op, begin, length, inner);
      for (std::size_t j = 0; j < length; ++j) {
        const std::size_t here = begin + j * inner;
        if (is_before) all = sets_.unite(all, at(op, 0, here));
        pace_.step();
        of_[op.result + here] = all;
        curve(op, here, all, all);
      }
    }
  }

  void products(const operation& op) {
    const std::uint32_t* n = integers(op);
    for (std::size_t i = 0; i < n[3]; ++i)
      product(op, n[0], n[1], n[2], op.result + i * n[0] * n[2], n[4] != 0 ? i * n[0] * n[1] : 0,
              n[5] != 0 ? i * n[1] * n[2] : 0);
  }

  /// Propagates sets through the product of a rows x inner and an inner x cols matrix, from entry a of operand 0 and entry b of
  /// operand 1 on. Constant zeros are omitted.
  void product(const operation& op, std::size_t rows, std::size_t inner, std::size_t cols, std::size_t result, std::size_t a,
               std::size_t b) {
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < cols; ++j) {
        list_.clear();
        pace_.step();
        for (std::size_t k = 0; k < inner; ++k) {
          const slot left = slot_of(op, 0, a + i * inner + k), right = slot_of(op, 1, b + k * cols + j);
          if (is_zero_[left] != 0 || is_zero_[right] != 0) continue;
          add_to_list(of_[left]);
          add_to_list(of_[right]);
        }
        of_[result + i * cols + j] = sets_.unite(list_);
      }
    }
    if (meet_ == nullptr || std::memchr(matters_.data() + result, 1, rows * cols) == nullptr) return;
    for (std::size_t k = 0; k < inner; ++k) {
      std::vector<set> left, right;
      for (std::size_t i = 0; i < rows; ++i) left.push_back(at(op, 0, a + i * inner + k));
      for (std::size_t j = 0; j < cols; ++j) right.push_back(at(op, 1, b + k * cols + j));
      meet_each(left, right);
    }
  }

  void add_to_list(set s) {
    if (s != index_sets::empty && (list_.empty() || list_.back() != s)) list_.push_back(s);
  }

  void meet_each(std::vector<set>& left, std::vector<set>& right) {
    for (std::vector<set>* side : {&left, &right}) {
      std::sort(side->begin(), side->end());
      side->erase(std::unique(side->begin(), side->end()), side->end());
    }
    for (const set l : left) {
      pace_.step();
      for (const set r : right) meet_->add(l, r);
    }
  }

  void terms(const operation& op) {
    for (std::size_t i = 0; meet_ != nullptr && i < integers(op)[0]; ++i) {
      set all = index_sets::empty;
      for (std::size_t k = 0; k < op.arity; ++k) all = sets_.unite(all, at(op, k, i));
      curve(op, 0, all, all);
    }
    of_[op.result] = all_of(op);
  }

  void scattered(const operation& op) {
    for (std::size_t i = 0; i < op.count; ++i) of_[op.result + i] = at(op, 0, i);
    for (std::size_t i = 0; i < size_of(op, 1); ++i) {
      set& to = of_[op.result + static_cast<std::size_t>(f_.fixed()[slot_of(op, 2, i)])];
      to = sets_.unite(to, at(op, 1, i));
    }
  }

  void looked_up(const operation& op) {
    const set table = all_of(op, 1);
    for (std::size_t i = 0; i < op.count; ++i) {
      const set all = of_[op.result + i] = sets_.unite(at(op, 0, i), table);
      if (table != index_sets::empty) curve(op, i, all, all);  // piecewise linear for a constant table
    }
  }

  const program& f_;
  unrolled operations_;
  index_sets sets_;
  std::vector<set> of_;                // of each slot
  std::vector<std::uint8_t> is_zero_;  // whether the slot is zero for all inputs
  std::vector<std::uint8_t> matters_;  // whether an output depends on the slot
  interactions* meet_ = nullptr;       // for second derivatives only
  std::vector<set> list_;
  interrupt_pace pace_;
};

}  // namespace detail

/// Returns all inputs of a program, in order.
inline std::vector<std::uint32_t> all_inputs(const program& f) {
  std::vector<std::uint32_t> all(f.input_size());
  for (std::size_t j = 0; j < all.size(); ++j) all[j] = static_cast<std::uint32_t>(j);
  return all;
}

/// Returns the pattern of the Jacobian of a program with respect to the inputs `wanted`: outputs x wanted.
inline csr_pattern jacobian_pattern(const program& f, const std::vector<std::uint32_t>& wanted) {
  return detail::set_flow(f, wanted).jacobian();
}
inline csr_pattern jacobian_pattern(const program& f) { return jacobian_pattern(f, all_inputs(f)); }

/// Returns the pattern of the Hessian of any combination of the outputs with respect to the inputs `wanted`: symmetric, wanted
/// x wanted.
inline csr_pattern hessian_pattern(const program& f, const std::vector<std::uint32_t>& wanted) {
  return detail::set_flow(f, wanted).hessian();
}
inline csr_pattern hessian_pattern(const program& f) { return hessian_pattern(f, all_inputs(f)); }

}  // namespace agrad
