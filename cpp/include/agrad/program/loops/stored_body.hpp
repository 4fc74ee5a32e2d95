// Stored body: writes the paths of a body, and reads them again.
//
// A body that was read has the stored paths and cannot record others.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <agrad/program/loops/body.hpp>
#include <agrad/program/store/portable.hpp>

namespace agrad {

/// captured: the number of captured values that an operation over the body has.
inline void write_body(portable_writer& to, const body& of, std::size_t captured) {
  to(of.name(), of.input_size(), of.paths(), captured);
}

inline std::shared_ptr<body> read_body(portable_reader& from, std::size_t& captured) {
  constexpr std::size_t most = std::size_t{1} << 32U;
  std::string name;
  std::size_t inputs = 0;
  std::vector<body_path> paths;
  from(name, inputs, paths, captured);
  from.expect(!paths.empty() && paths.size() <= body::most_paths && inputs <= most && captured <= most, "a body");
  const std::size_t outputs = paths[0].code->output_size();
  auto of = std::make_shared<body>(std::move(name), inputs);
  for (body_path& path : paths) {
    from.expect(
        path.captured <= captured && path.code->input_size() == inputs + path.captured && path.code->output_size() == outputs,
        "a path of a body");
    of->add(std::move(path));
  }
  return of;
}

}  // namespace agrad
