# Runs `program` and compares what it prints with the file `expected`.
execute_process(COMMAND ${program} OUTPUT_VARIABLE printed RESULT_VARIABLE status)
file(READ ${expected} wanted)
if(NOT status EQUAL 0 OR NOT printed STREQUAL wanted)
  message(FATAL_ERROR "${program} ended with ${status} and printed\n${printed}\nbut must print\n${wanted}")
endif()
