/* What a container says, as a file of lines in the form that Kubernetes' runtimes write:
 *
 *     2026-11-15T16:45:05.123456789Z stdout F the line
 *
 * with P instead of F for a piece of a line that goes on. A log that has grown to its limit becomes
 * log.1, the one before log.2; the oldest goes.
 */

#ifndef LOG_H
#define LOG_H

#include <stddef.h>

enum { PIECE = 16384 };

struct stream {
    const char *name;
    int file; /* -1 when it has ended */
    size_t size;
    char text[PIECE];
};

void open_log(long bytes, int files);

/* Reads what is there and writes it down; at the end of the stream `file` becomes -1. */
void take(struct stream *stream);

#endif
