/* keeper: what stands between a container and the program that wanted it.
 *
 *     keeper run     LOCK SELF FILTER WORDS LOG-BYTES LOG-FILES NETWORK IMAGE [CGROUP ...]
 *                    -- SANDBOX ...
 *     keeper furnish IS-READ-ONLY [MOUNT ...] -- UID GID ... -- COMMAND ...      as for enter;
 *                    +MOUNT is laid over what is there instead of in its place
 *     keeper enter   UID GID GROUPS CAPABILITIES FOLDER -- COMMAND ...
 *     keeper join    TARGET FAILURE FILTER CALLER INPUT OUTPUT ERRORS WORDS HAS-TERMINAL
 *                    [CGROUP ...] -- UID GID ... -- COMMAND ...                  as for enter
 *
 * `run` outlives the program that started it, and is all that has to: it is the parent of one
 * sandbox, passes on what is said to the container (input.h), writes down what the container says
 * (log.h) and how it ended, all in the folder that it is started in, and is gone. `furnish` is the
 * first step inside a sandbox: it puts volumes in their places. `enter` is the last one: it takes away
 * every right that was not given and becomes the command. `join` takes a command into a container that
 * runs.
 *
 * Open files are the interface, since paths mean something else inside. Those that a caller gives, by
 * their numbers or - for none, are moved to numbers that everybody below knows:
 *     LOCK     locked by whoever starts `run`; free again when this program is gone
 *     STATUS   opened by `run` for the sandbox, which writes its process's number there
 *     FAILURE  opened by `run`, given to `join`: one line when the command cannot be started
 *     SELF     for the sandbox: this program, as a file that nobody can write to
 *     FILTER   a seccomp program
 *     TARGET   a pidfd of a process in the container
 *     LIFE     made by `run` and `join`, who hold the other end: at its end when they are gone
 *     CALLER   a socket of whoever wants `join`: at its end when they are gone, and so the command is.
 *              The other end of the command's terminal is sent there
 *     WORDS    what is nobody else's to read on the machine, as command lines are: options for the
 *              sandbox, variables for a command that joins; each with a zero byte at its end
 *     INPUT, OUTPUT, ERRORS    the streams of a command without a terminal
 */

#ifndef KEEPER_H
#define KEEPER_H

enum {
    LOCK = 3, STATUS, FAILURE, SELF, FILTER, TARGET, LIFE, CALLER, INPUT, OUTPUT, ERRORS, WORDS,
    FIRST_FREE
};
enum { FOLDER = 4 }; /* among the words of `enter` */
enum { CANNOT = 125, NOT_EXECUTABLE = 126, NOT_FOUND = 127, WRONG_USAGE = 2 };

/* Somebody reads FAILURE who has a use of their own for standard error. */
extern int are_failures_read;

/* Says on FAILURE and on standard error what could not be done, and ends. */
void fail(int code, const char *what, const char *whom) __attribute__((noreturn));

/* Moves open files, given as words, to their places. Nothing else stays open. */
void arrange(int count, char **given, const int *places);

/* The place of `--` among the words; ends the program where there is none. */
int separator(int count, char **words);

/* A pipe whose end at LIFE the child inherits. This process has the other one until it ends. */
void show_life(void);

/* This process, into control groups. */
void take_place(int count, char **groups);

/* This process, into a network namespace; `-` for none. */
void enter_network(const char *network);

/* The files of an image, with a layer above them to write to, at `root`; `-` for none. */
void lay_root(const char *image);

int run(int count, char **words);
int furnish(int count, char **words);
int enter(int count, char **words);
int join(int count, char **words);

#endif
