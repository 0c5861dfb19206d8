/* What is said to a container, by whoever attaches to it: through a named pipe, `input`, in the folder
 * of the attempt. A container without that pipe has no input.
 *
 * The container reads from a pipe of its own, so that it never has a file of the machine open. It
 * may read slowly or not at all: nothing here waits for it.
 */

#ifndef INPUT_H
#define INPUT_H

#include <poll.h>

/* The end that the container reads; -1 if it has none. */
int open_input(void);

/* What has to happen before `pass_input` can do something. */
struct pollfd awaited_input(void);

void pass_input(void);

/* Nobody comes any more: when the last who is there goes, the container sees the end. */
void end_input(void);

#endif
