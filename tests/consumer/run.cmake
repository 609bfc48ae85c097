# run(<command>...), run_in(<folder> <command>...): stop with everything that the command said if it fails; `output`
# holds it otherwise.
function(run_in folder)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${folder} RESULT_VARIABLE failed OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  set(output "${output}" PARENT_SCOPE)
  if(failed)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nfailed (${failed}):\n${output}")
  endif()
endfunction()
macro(run)
  run_in(${CMAKE_CURRENT_LIST_DIR} ${ARGN})
endmacro()

# For an offload build, OFFLOAD set: the device code has to be in the program.
function(require_device_image program)
  if(NOT OFFLOAD)
    return()
  endif()
  run(${READELF} -SW ${program})
  if(NOT output MATCHES "\\.llvm\\.offloading" OR NOT output MATCHES "omp_offloading_entries")
    message(FATAL_ERROR "the device image for ${OFFLOAD} is not in ${program}:\n${output}")
  endif()
  message("the device image for ${OFFLOAD} is in ${program}")
endfunction()
