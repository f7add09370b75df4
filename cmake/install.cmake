# What is installed, in components: `normtune`, of which the .deb is made; `bundled`, what the .deb gets from other packages; `wheel`, the
# Python package, which `cmake --install` leaves out (docs/packaging.md).

install(TARGETS normtune RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT normtune)
foreach(library IN LISTS NORMTUNE_SHARED_LIBRARIES)
  install(FILES $<TARGET_FILE:${library}> DESTINATION ${CMAKE_INSTALL_LIBDIR}/normtune RENAME $<TARGET_SONAME_FILE_NAME:${library}>
          COMPONENT bundled)
  install(FILES $<TARGET_FILE:${library}> DESTINATION normtune/bin RENAME $<TARGET_SONAME_FILE_NAME:${library}> COMPONENT wheel
          EXCLUDE_FROM_ALL)
endforeach()
# Deeper than ldconfig looks, or the .deb would call it.
install(TARGETS normtune_worker LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/normtune/worker COMPONENT normtune)
install(DIRECTORY python/normtune_provider DESTINATION ${CMAKE_INSTALL_DATADIR}/normtune/python COMPONENT normtune PATTERN __pycache__ EXCLUDE)
install(DIRECTORY configs schemas DESTINATION ${CMAKE_INSTALL_DATADIR}/normtune COMPONENT normtune)
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT normtune)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT bundled)
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT normtune PATTERN __pycache__ EXCLUDE)
foreach(script IN ITEMS ci_gate run_emitted.py triton_candidates)
  string(REGEX REPLACE "\\.py$" "" name ${script})
  string(REPLACE "_" "-" name ${name})
  install(PROGRAMS scripts/${script} DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME normtune-${name} COMPONENT normtune)
endforeach()
# The executable prints its own manual pages and completions.
install(CODE "
  set(root \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}\")
  execute_process(COMMAND $<TARGET_FILE:normtune> man --all \${root}/man/man1 COMMAND_ERROR_IS_FATAL ANY)
  foreach(place IN ITEMS bash:bash-completion/completions/normtune zsh:zsh/vendor-completions/_normtune
          fish:fish/vendor_completions.d/normtune.fish)
    string(REGEX REPLACE \":.*\" \"\" shell \${place})
    string(REGEX REPLACE \".*:\" \"\" file \${place})
    execute_process(COMMAND $<TARGET_FILE:normtune> completion \${shell} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
    file(WRITE \${root}/\${file} \"\${text}\")
  endforeach()" COMPONENT normtune)

# The wheel: the folder of the Python package, whose sources pyproject.toml names, has the executable beside its libraries.
install(TARGETS normtune normtune_worker
        RUNTIME DESTINATION normtune/bin COMPONENT wheel EXCLUDE_FROM_ALL
        LIBRARY DESTINATION normtune/bin COMPONENT wheel EXCLUDE_FROM_ALL)
install(PROGRAMS scripts/ci_gate scripts/run_emitted.py scripts/triton_candidates DESTINATION normtune/scripts COMPONENT wheel EXCLUDE_FROM_ALL)
install(DIRECTORY schemas DESTINATION normtune COMPONENT wheel EXCLUDE_FROM_ALL)
install(CODE "
  execute_process(COMMAND \"${CMAKE_SOURCE_DIR}/scripts/licences\" --bundled OUTPUT_VARIABLE text RESULT_VARIABLE status)
  if(status EQUAL 0)
    file(WRITE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/normtune/LICENCES\" \"\${text}\")
  else()
    message(WARNING \"The licences of the libraries in the executable are not in the package: see above\")
  endif()" COMPONENT wheel EXCLUDE_FROM_ALL)

# `cpack -G DEB` makes the .deb of what was built; nothing is compiled for it.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME normtune)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_CMAKE_PROJECTS "${CMAKE_BINARY_DIR};normtune;normtune;/")
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/debian.cmake)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "normtune <normtune@packages.invalid>" CACHE STRING "Who answers for the package: NAME <ADDRESS>")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "autotuner and benchmark for RMSNorm kernels")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Finds the fastest correct RMSNorm kernel configuration for the shapes of a
model on the machine that it runs on: NVIDIA GPUs, AMD GPUs and CPUs.
Judges changes of such kernels in CI, and writes winners for launchers in
C++ and Triton.

Kernels for NVIDIA GPUs are compiled by NVRTC, which is opened at run time.")
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# For GPUs, report --format png, Python providers, normtune-run-emitted and normtune-triton-candidates.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libnvrtc11.2 | cuda-nvrtc-13-0, libamdhip64-5, librsvg2-bin, python3")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
