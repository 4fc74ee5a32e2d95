// How often tests repeat what only many repetitions show: a quarter as often in checked builds.
//
// The sanitizers, whose builds are checked, take these tests from seconds to a minute, and see what they see in one repetition.
#pragma once

constexpr int repetitions(int count) {
#ifdef AGRAD_CHECKED
  return count / 4;
#else
  return count;
#endif
}
