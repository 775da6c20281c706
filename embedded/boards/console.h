/* Prints text and ends the program by semihosting, which debuggers and QEMU support. */
#ifndef BOXWRIGHT_CONSOLE_H
#define BOXWRIGHT_CONSOLE_H

void console_write(const char *text);
__attribute__((noreturn)) void console_exit(int code);

#endif
