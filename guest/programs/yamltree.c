/*
 * yamltree FILE FOLDER: unpacks a YAML (or JSON) document into a tree of files, for shell scripts.
 *
 * A mapping becomes a folder of its keys, a sequence a folder of 0000, 0001, ..., and a scalar a file
 * that holds exactly its text, newlines and quotes included. A null is no file at all. So a script
 * asks whether user/hostname is there, walks through the folder user/runcmd, and copies a file's
 * content to where it belongs; no value is ever quoted, split or evaluated on its way.
 *
 * The document is foreign: its nodes and depth are limited (also through aliases), and a key that
 * cannot be a file name is left out and named on stderr.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

enum { MOST_NODES = 20000, MOST_DEPTH = 32, LONGEST_NAME = 255, BAD_DOCUMENT = 1, WRONG_USE = 2 };

static const char BINARY_TAG[] = "tag:yaml.org,2002:binary";
static int nodes_left = MOST_NODES;

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "yamltree: %s: %s\n", what, why);
    exit(BAD_DOCUMENT);
}

static bool is_null(const yaml_node_t *node)
{
    if (node->type != YAML_SCALAR_NODE || node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
        return false;
    const char *text = (const char *)node->data.scalar.value;
    return !*text || !strcmp(text, "~") || !strcasecmp(text, "null");
}

static bool can_be_a_name(const yaml_node_t *key)
{
    if (key->type != YAML_SCALAR_NODE)
        return false;
    const char *text = (const char *)key->data.scalar.value;
    size_t length = key->data.scalar.length;
    return length > 0 && length <= LONGEST_NAME && text[0] != '.' && !memchr(text, '/', length)
        && !memchr(text, '\0', length);
}

static int base64_digit(unsigned char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = c ? strchr(digits, c) : NULL;
    return found ? (int)(found - digits) : -1;
}

/* Decodes in place; what is no base64 digit (newlines, padding) is skipped. */
static size_t decode_base64(unsigned char *text, size_t length)
{
    size_t written = 0;
    unsigned bits = 0;
    int held = 0;
    for (size_t i = 0; i < length; i++) {
        int digit = base64_digit(text[i]);
        if (digit < 0)
            continue;
        bits = bits << 6 | (unsigned)digit;
        held += 6;
        if (held >= 8) {
            held -= 8;
            text[written++] = (unsigned char)(bits >> held);
        }
    }
    return written;
}

static void write_scalar(int folder, const char *name, yaml_node_t *node)
{
    unsigned char *text = node->data.scalar.value;
    size_t length = node->data.scalar.length;
    if (node->tag && !strcmp((char *)node->tag, BINARY_TAG)) {
        length = decode_base64(text, length);
        node->tag = NULL; /* an alias may lead here again */
        node->data.scalar.length = length;
    }
    int file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        fail(name, strerror(errno));
    for (size_t done = 0; done < length;) {
        ssize_t n = write(file, text + done, length - done);
        if (n < 0)
            fail(name, strerror(errno));
        done += (size_t)n;
    }
    close(file);
}

static void unpack(yaml_document_t *document, yaml_node_t *node, int folder, const char *name, int depth);

static void unpack_mapping(yaml_document_t *document, yaml_node_t *node, int folder, int depth)
{
    /* Backwards, so that of two equal keys the last wins, as everywhere else in YAML. */
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.top; pair-- > node->data.mapping.pairs.start;) {
        yaml_node_t *key = yaml_document_get_node(document, pair->key);
        if (!can_be_a_name(key)) {
            fprintf(stderr, "yamltree: a key that is no plain name is left out\n");
            continue;
        }
        const char *name = (const char *)key->data.scalar.value;
        if (faccessat(folder, name, F_OK, 0) != 0)
            unpack(document, yaml_document_get_node(document, pair->value), folder, name, depth);
    }
}

static void unpack_sequence(yaml_document_t *document, yaml_node_t *node, int folder, int depth)
{
    yaml_node_item_t *first = node->data.sequence.items.start;
    for (yaml_node_item_t *item = first; item < node->data.sequence.items.top; item++) {
        char name[16];
        snprintf(name, sizeof name, "%04d", (int)(item - first));
        unpack(document, yaml_document_get_node(document, *item), folder, name, depth);
    }
}

static void unpack(yaml_document_t *document, yaml_node_t *node, int folder, const char *name, int depth)
{
    if (depth > MOST_DEPTH || nodes_left-- <= 0)
        fail("the document", "it is too deep or too large");
    if (is_null(node))
        return;
    if (node->type == YAML_SCALAR_NODE) {
        write_scalar(folder, name, node);
        return;
    }
    if (mkdirat(folder, name, 0700) != 0 && (depth > 0 || errno != EEXIST))
        fail(name, strerror(errno));
    int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner < 0)
        fail(name, strerror(errno));
    if (node->type == YAML_MAPPING_NODE)
        unpack_mapping(document, node, inner, depth + 1);
    else
        unpack_sequence(document, node, inner, depth + 1);
    close(inner);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: yamltree FILE FOLDER\n");
        return WRONG_USE;
    }
    FILE *input = fopen(argv[1], "rb");
    if (!input)
        fail(argv[1], strerror(errno));
    yaml_parser_t parser;
    yaml_document_t document;
    if (!yaml_parser_initialize(&parser))
        fail(argv[1], "out of memory");
    yaml_parser_set_input_file(&parser, input);
    if (!yaml_parser_load(&parser, &document)) {
        fprintf(stderr, "yamltree: %s: line %zu: %s\n", argv[1], parser.problem_mark.line + 1, parser.problem);
        return BAD_DOCUMENT;
    }
    yaml_node_t *root = yaml_document_get_root_node(&document);
    if (!root || root->type != YAML_MAPPING_NODE)
        fail(argv[1], "no mapping");
    unpack(&document, root, AT_FDCWD, argv[2], 0);
    return 0;
}
