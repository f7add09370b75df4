# Run by CPack on the files of the .deb: what Debian asks for beside what `cmake --install` gives.
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr)
set(doc ${root}/share/doc/normtune)

# libmuparser, libsimdjson and yaml-cpp are other packages, found like any library.
file(GLOB_RECURSE library ${root}/libnormtune_worker.so)
foreach(file IN ITEMS ${root}/bin/normtune ${library})
  file(RPATH_REMOVE FILE ${file})
endforeach()

execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/../scripts/licences OUTPUT_FILE ${doc}/copyright COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${doc}/CHANGELOG.md ${doc}/changelog)
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC) # or SOURCE_DATE_EPOCH
file(WRITE ${doc}/changelog.Debian "normtune (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * What changed is in changelog.gz.

 -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  ${now}
")

# Manual pages of the scripts: what they are, from the second line of the file, and their --help as it is.
foreach(name IN ITEMS ci-gate run-emitted triton-candidates)
  file(STRINGS ${root}/bin/normtune-${name} lines LIMIT_COUNT 2 ENCODING UTF-8)
  list(GET lines 1 about)
  string(REGEX REPLACE "^(# |\"\"\")| \\([^)]*\\)|[.:;].*$" "" about "${about}")
  string(REPLACE "-" "\\-" about "${about}")
  execute_process(COMMAND ${root}/bin/normtune-${name} --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\\" "\\(rs" help "${help}")
  string(REPLACE "-" "\\-" help "${help}")
  string(REGEX REPLACE "\n([.'])" "\n\\\\&\\1" help "${help}")
  string(TOUPPER ${name} title)
  file(WRITE ${root}/share/man/man1/normtune-${name}.1 ".TH NORMTUNE\\-${title} 1 \"\" \"normtune ${CPACK_PACKAGE_VERSION}\" \"normtune\"
.SH NAME\nnormtune\\-${name} \\- ${about}\n.SH SYNOPSIS\n.nf\n${help}.fi\n.SH SEE ALSO\n\\fBnormtune\\fR(1)\n")
endforeach()

file(GLOB pages ${root}/share/man/man1/*.1)
execute_process(COMMAND gzip -9n ${doc}/changelog ${doc}/changelog.Debian ${pages} COMMAND_ERROR_IS_FATAL ANY)
