/* Files inside the program, so that a bare board needs no file system. Paths come from the command line. */
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
