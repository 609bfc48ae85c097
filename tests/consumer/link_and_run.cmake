# Compiles SOURCE with COMPILER, links it with LIBRARIES by their full paths, demands the device image when OFFLOAD is
# set, and runs it.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

set(rpath "")
foreach(library IN LISTS LIBRARIES)
  if(library MATCHES "\\.so")
    get_filename_component(folder "${library}" DIRECTORY)
    list(APPEND rpath "-Wl,-rpath,${folder}")
  endif()
endforeach()
list(REMOVE_DUPLICATES rpath)
run(${COMPILER} -std=c++20 -O1 -I${INCLUDE} ${SOURCE} ${LIBRARIES} ${rpath} -o ${PROGRAM})
require_device_image(${PROGRAM})
run(${PROGRAM})
message("${output}")
