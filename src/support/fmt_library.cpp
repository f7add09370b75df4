// fmt, compiled once (see CMakeLists.txt): what its headers only declare elsewhere.
#include <fmt/format-inl.h>

// The templates that fmt/format.h declares to be instantiated in the library.
FMT_BEGIN_NAMESPACE
namespace detail {
template FMT_API auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto thousands_sep_impl<wchar_t>(locale_ref) -> thousands_sep_result<wchar_t>;
template FMT_API auto decimal_point_impl<char>(locale_ref) -> char;
template FMT_API auto decimal_point_impl<wchar_t>(locale_ref) -> wchar_t;
}  // namespace detail
FMT_END_NAMESPACE
