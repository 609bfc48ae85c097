# Preprocesses each of HEADERS in the folder INCLUDE with COMPILER as C++17, which must end with the request for C++20: it is
# in what every header includes before its own text. OTHERS: folders of other headers.
list(TRANSFORM OTHERS PREPEND -I)
foreach(header IN LISTS HEADERS)
  execute_process(COMMAND ${COMPILER} -std=c++17 -E -x c++ -I${INCLUDE} ${OTHERS} ${INCLUDE}/${header}
    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE output)
  if(NOT failed OR NOT output MATCHES "error: [^\n]*quintet needs C[+][+]20")
    message(SEND_ERROR "${header} as C++17: ${output}")
  endif()
endforeach()
