# Writes OUT: the texts FILES one after another, for indices of BITS bits.
cmake_minimum_required(VERSION 3.22)   # which leaves @ alone in what stands here
set(all "")
foreach(f IN LISTS FILES)
  file(READ ${f} text)
  string(APPEND all "${text}\n")
endforeach()
math(EXPR bytes "${BITS} / 8")
string(REPLACE "@I@" "i${BITS}" all "${all}")
string(REPLACE "@B@" "${bytes}" all "${all}")
string(REPLACE "@BITS@" "${BITS}" all "${all}")
file(WRITE ${OUT} "${all}")
