/* Puts a file into the program, since a bare board has no file system. BLOB_NAME and BLOB_FILE come from the compiler. */
    .section .rodata
    .balign 16
    .global BLOB_NAME
BLOB_NAME:
    .incbin BLOB_FILE
    .byte 0
    .balign 16
#if defined(__linux__) && defined(__ELF__)
    .section .note.GNU-stack, "", %progbits
#endif
