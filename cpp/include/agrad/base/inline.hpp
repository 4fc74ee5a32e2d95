// AGRAD_INLINE stands before definitions that no template holds back, which lie in .ipp files.
//
// By default the library is headers only: each header includes its definitions at the header's end, and these are inline. With
// AGRAD_COMPILED, headers hold declarations alone, and the definitions are compiled once, in cpp/compiled (the target
// agrad::compiled, which defines AGRAD_COMPILED for all that link the target).
#pragma once

#ifdef AGRAD_COMPILED
#define AGRAD_INLINE
#else
#define AGRAD_INLINE inline
#endif
