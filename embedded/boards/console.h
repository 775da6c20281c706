/* Text out and the end of the program, for a board without a console: semihosting, which debuggers and QEMU answer. */
#ifndef BOXWRIGHT_CONSOLE_H
#define BOXWRIGHT_CONSOLE_H

void console_write(const char *text);
__attribute__((noreturn)) void console_exit(int code);

#endif
