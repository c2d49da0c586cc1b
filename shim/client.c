/*
 * The client of client.py, compiled: announces a command to the gatekeeper, then becomes the real tool.
 * Same protocol (protocol.py), same table (offline.py), same answers; one table of tests runs against both.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SEKISHO_SOCKET
#define SEKISHO_SOCKET "/run/sekisho/agent.sock"
#endif
#define SEKISHO_CLIENTS "/run/sekisho/bin" /* where this program is at home, also when it covers /usr/bin/git */
#define SEKISHO_REAL "/run/sekisho/real" /* the programs that are covered */
#define DEADLINE_MS 1000
#define SEKISHO_STARTING "/run/sekisho/outbox/decisions/.starting" /* there while the gatekeeper loads */
#define PATIENCE_MS 5000
#define MAX_FRAME (1024 * 1024)
#define MAX_ANSWER 65536
#define MAX_WORDS 10000
enum { BROKEN = 69, ABSENT = 127 };

extern char **environ;

static const char *const VARIABLES[] = {
    "PATH", "HOME", "TMPDIR", "GIT_DIR", "GIT_WORK_TREE", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_PARAMETERS", "GIT_SSH_COMMAND", "GIT_SSH", "GIT_EXTERNAL_DIFF", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR",
    "GIT_PAGER", "GIT_ASKPASS", "GIT_PROXY_COMMAND", "GIT_EXEC_PATH", "GIT_CONFIG_COUNT", "EDITOR", "VISUAL", "PAGER",
    "LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "WGETRC", "CURL_HOME", "http_proxy", "https_proxy", "HTTP_PROXY",
    "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "no_proxy", "PGHOST", "PGSERVICE", "MYSQL_HOST", "DOCKER_HOST",
    "DOCKER_CONTEXT", "KUBECONFIG", "AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_REGION", "GH_REPO", "GH_HOST",
    "TF_CLI_ARGS", "TF_CLI_ARGS_apply", "TF_WORKSPACE", "RSYNC_RSH", "NODE_OPTIONS", "PYTHONPATH", "RUBYOPT",
    "PERL5OPT", "SEKISHO_SESSION", NULL};

static void say(const char *format, ...) {
    char text[40000];
    va_list list;
    va_start(list, format);
    int size = vsnprintf(text, sizeof text - 1, format, list);
    va_end(list);
    if (size < 0) return;
    if ((size_t)size > sizeof text - 2) size = sizeof text - 2;
    while (size > 0 && text[size - 1] == '\n') size--;
    text[size++] = '\n';
    for (int done = 0; done < size;) {
        ssize_t wrote = write(2, text + done, size - done);
        if (wrote <= 0) return;
        done += wrote;
    }
}

/* -- finding the real tool --------------------------------------------------------------------------- */

static int identity(const char *path, struct stat *found) {
    return stat(path, found) == 0;
}

static int same(const struct stat *one, const struct stat *other) {
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

static char *joined(const char *folder, size_t length, const char *name) {
    char *path = malloc(length + strlen(name) + 2);
    if (!path) exit(BROKEN);
    memcpy(path, folder, length);
    while (length > 0 && path[length - 1] == '/') length--;
    path[length] = '/';
    strcpy(path + length + 1, name);
    return path;
}

static char *find_tool(const char *name, const char *cwd, const struct stat *own, const struct stat *own_folder) {
    const char *path = getenv("PATH");
    if (!path) path = "/usr/local/bin:/usr/bin:/bin";
    for (;;) {
        size_t length = strcspn(path, ":");
        char *entry = strndup(path, length), *place, *candidate;
        struct stat found, folder;
        if (!entry) exit(BROKEN);
        place = entry[0] == '/' ? strdup(entry) : joined(cwd, strlen(cwd), entry);
        candidate = joined(place, strlen(place), name);
        int usable = identity(candidate, &found) && S_ISREG(found.st_mode) && access(candidate, X_OK) == 0;
        if (usable && !same(&found, own) && !(identity(place, &folder) && own_folder && same(&folder, own_folder))) {
            return candidate;
        }
        free(entry), free(place), free(candidate);
        if (!path[length]) return NULL;
        path += length + 1;
    }
}

/* What a link is a link to, by name; the name itself for what is no link. */
static const char *linked(const char *path) {
    static char target[4096];
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0) return path;
    target[length] = 0;
    char *slash = strrchr(target, '/');
    return slash ? slash + 1 : target;
}

/* The real program where this one lies over it; git's own names (git-upload-pack) are links to git. */
static char *covered(const char *name) {
    char *candidate = joined(SEKISHO_REAL, strlen(SEKISHO_REAL), name);
    if (access(candidate, X_OK) == 0) return candidate;
    free(candidate);
    if (strncmp(name, "git-", 4) != 0) return NULL;
    candidate = joined(SEKISHO_REAL, strlen(SEKISHO_REAL), "git");
    return access(candidate, X_OK) == 0 ? candidate : NULL;
}

/* -- asking ------------------------------------------------------------------------------------------- */

struct buffer { char *data; size_t size, room; };

static int add(struct buffer *buffer, const char *data, size_t size) {
    if (buffer->size + size + 1 > MAX_FRAME) return 0;
    if (buffer->size + size + 1 > buffer->room) {
        buffer->room = (buffer->size + size + 1) * 2;
        buffer->data = realloc(buffer->data, buffer->room);
        if (!buffer->data) exit(BROKEN);
    }
    memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
    buffer->data[buffer->size++] = '\0';
    return 1;
}

static int add_text(struct buffer *buffer, const char *text) { return add(buffer, text, strlen(text)); }

static int add_number(struct buffer *buffer, long number) {
    char text[24];
    snprintf(text, sizeof text, "%ld", number);
    return add_text(buffer, text);
}

static int announced(const char *entry) {
    size_t length = strcspn(entry, "=");
    if (!entry[length]) return 0;
    if (!strncmp(entry, "GIT_CONFIG_KEY_", 15) || !strncmp(entry, "GIT_CONFIG_VALUE_", 17)) return 1;
    for (int at = 0; VARIABLES[at]; at++)
        if (strlen(VARIABLES[at]) == length && !strncmp(VARIABLES[at], entry, length)) return 1;
    return 0;
}

static int request(struct buffer *out, const char *tool, const char *cwd, int argc, char **argv, const char *name) {
    int fine = add_text(out, "1") && add_text(out, "exec") && add_text(out, tool ? tool : "") && add_text(out, cwd);
    fine = fine && argc <= MAX_WORDS && add_number(out, argc) && add_text(out, name);
    for (int at = 1; fine && at < argc; at++) fine = add_text(out, argv[at]);
    long count = 0;
    for (char **entry = environ; *entry; entry++) count += announced(*entry);
    if (count > 1000) count = 1000;
    fine = fine && add_number(out, count);
    for (char **entry = environ; fine && *entry && count > 0; entry++)
        if (announced(*entry)) fine = add_text(out, *entry), count--;
    return fine;
}

static long now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static int ready(int fd, short events, long end) {
    struct pollfd one = {.fd = fd, .events = events};
    for (;;) {
        long left = end - now_ms();
        if (left <= 0) return 0;
        int count = poll(&one, 1, (int)left);
        if (count > 0) return 1;
        if (count == 0 || errno != EINTR) return 0;
    }
}

static int send_all(int fd, const char *data, size_t size, long end) {
    while (size > 0) {
        if (!ready(fd, POLLOUT, end)) return 0;
        ssize_t sent = send(fd, data, size, MSG_NOSIGNAL);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (sent <= 0) return 0;
        data += sent, size -= sent;
    }
    return 1;
}

enum answer { NONE, RUN, REFUSE, WATCH };

/* Splits a payload into at most four fields; 0 if it has another number or does not end in NUL. */
static int split(char *payload, size_t size, char *fields[4]) {
    int count = 0;
    if (!size || payload[size - 1]) return 0;
    for (size_t at = 0; at < size; at += strlen(payload + at) + 1) {
        if (count == 4) return 0;
        fields[count++] = payload + at;
    }
    return count;
}

static int number(const char *text, int digits) {
    if (!*text || strspn(text, "0123456789") != strlen(text) || strlen(text) > (size_t)digits) return -1;
    return atoi(text);
}

static enum answer read_answer(int fd, long end, int *status, char **text) {
    static char received[MAX_ANSWER * 2 + 16];
    size_t size = 0;
    for (;;) {
        size_t digits = 0;
        while (digits < size && received[digits] >= '0' && received[digits] <= '9') digits++;
        if (digits > 6 || (size > digits && (received[digits] != ':' || !digits))) return NONE;
        size_t length = strtoul(received, NULL, 10), start = digits + 1;
        if (size > digits && length > MAX_ANSWER) return NONE;
        if (size > digits && size > start + length) {
            char *fields[4];
            if (received[start + length] != ',') return NONE;
            int count = split(received + start, length, fields);
            if (count < 2 || strcmp(fields[0], "1")) return NONE;
            if (count == 2 && !strcmp(fields[1], "run")) return RUN;
            if (count == 2 && !strcmp(fields[1], "watch")) return WATCH;
            if (count != 4) return NONE;
            if (!strcmp(fields[1], "refuse")) {
                *status = number(fields[2], 3);
                *text = fields[3];
                return *status == 75 || *status == 77 || *status == 69 || *status == 127 ? REFUSE : NONE;
            }
            int seconds = number(fields[2], 5);
            if (strcmp(fields[1], "wait") || seconds < 0) return NONE;
            say("%s", fields[3]);
            end = now_ms() + seconds * 1000L;
            size -= start + length + 1;
            memmove(received, received + start + length + 1, size);
            received[size] = '\0';
            continue;
        }
        if (size > MAX_ANSWER + 8 || !ready(fd, POLLIN, end)) return NONE;
        ssize_t got = recv(fd, received + size, MAX_ANSWER, 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (got <= 0) return NONE;
        size += got;
        received[size] = '\0';
    }
}

/* `connection` stays open where the tool is to be watched. */
static enum answer ask(struct buffer *payload, int *status, char **text, int *connection) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    long end = now_ms() + (access(SEKISHO_STARTING, F_OK) == 0 ? PATIENCE_MS : DEADLINE_MS);
    char head[16];
    enum answer answer = NONE;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return NONE;
    strcpy(address.sun_path, SEKISHO_SOCKET);
    snprintf(head, sizeof head, "%zu:", payload->size);
    int linked = connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    if (linked && send_all(fd, head, strlen(head), end) && send_all(fd, payload->data, payload->size, end) &&
        send_all(fd, ",", 1, end))
        answer = read_answer(fd, end, status, text);
    if (answer == WATCH) *connection = fd;
    else close(fd);
    return answer;
}

/* -- without a gatekeeper ------------------------------------------------------------------------------ */

static int matches(const char *token, size_t length, const char *word) {
    const char *star = memchr(token, '*', length);
    size_t size = strlen(word);
    if (!star) return size == length && !memcmp(token, word, length);
    size_t before = star - token, after = length - before - 1;
    return size >= before + after && !memcmp(word, token, before) && !memcmp(word + size - after, star + 1, after);
}

static int pattern_matches(const char *pattern, size_t size, char **words, int count, int *tokens) {
    *tokens = 0;
    for (size_t at = 0; at < size;) {
        const char *space = memchr(pattern + at, ' ', size - at);
        size_t length = space ? (size_t)(space - pattern) - at : size - at;
        if (*tokens >= count || !matches(pattern + at, length, words[*tokens])) return 0;
        (*tokens)++;
        at += length + 1;
    }
    return 1;
}

static int option_given(const char *option, size_t length, char **given, int count) {
    for (int at = 0; at < count; at++) {
        size_t size = strcspn(given[at], "=");
        if (size == length && !memcmp(option, given[at], size)) return 1;
        if (size > 3 && size < length && !memcmp(given[at], "--", 2) && !memcmp(option, given[at], size)) return 1;
        if (length == 2 && memcmp(given[at], "--", 2) && strchr(given[at], option[1])) return 1;
    }
    return 0;
}

static char *read_file(const char *path, size_t *size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *data = malloc(MAX_FRAME);
    ssize_t got;
    *size = 0;
    if (fd < 0 || !data) return NULL;
    while ((got = read(fd, data + *size, MAX_FRAME - 1 - *size)) > 0) *size += got;
    close(fd);
    return got < 0 ? NULL : data;
}

struct line { const char *kind, *rest; size_t size; };

/* The next line of the table; 0 at its end. */
static int next_line(const char **at, const char *end, struct line *line) {
    if (*at >= end) return 0;
    const char *stop = memchr(*at, '\n', end - *at);
    if (!stop) stop = end;
    const char *space = memchr(*at, ' ', stop - *at);
    line->kind = *at;
    line->rest = space ? space + 1 : stop;
    line->size = stop - line->rest;
    *at = stop + 1;
    return 1;
}

static int is(const struct line *line, const char *kind) {
    return !strncmp(line->kind, kind, strlen(kind)) && line->kind[strlen(kind)] == ' ';
}

static int gated(const char *table, size_t size, const char *name, int argc, char **argv) {
    const char *end = table + size, *start = NULL, *at = table;
    struct line line;
    char mode = 0;
    while (!start && next_line(&at, end, &line)) {
        size_t length = strlen(name);
        if (is(&line, "tool") && line.size == length + 2 && !memcmp(line.rest, name, length) && line.rest[length] == ' ')
            mode = line.rest[length + 1], start = at;
    }
    if (!start) return 1;
    char **words = calloc(argc + 1, sizeof *words), **given = calloc(argc + 1, sizeof *given);
    int count = 0, options = 0;
    if (!words || !given) exit(BROKEN);
    for (int position = 1; position < argc; position++) {
        char *word = argv[position];
        if (!strcmp(word, "--")) {
            while (++position < argc) words[count++] = argv[position];
        } else if (word[0] == '-' && word[1]) {
            given[options++] = word;
            for (at = start; next_line(&at, end, &line) && !is(&line, "tool");)
                if (is(&line, "v") && line.size == strlen(word) && !memcmp(line.rest, word, line.size)) {
                    position++;
                    break;
                }
        } else {
            words[count++] = word;
        }
    }
    /* The longest pattern decides; among equals one without `*`, then one that gates. */
    int best = -1, best_star = 1, verdict = mode == '-', bare_gated = 0, bare_runs = 0;
    for (at = start; next_line(&at, end, &line) && !is(&line, "tool");) {
        int gates = is(&line, "g"), tokens, star = memchr(line.rest, '*', line.size) != NULL;
        if (is(&line, "o")) {
            const char *space = memchr(line.rest, ' ', line.size);
            size_t verb = space ? (size_t)(space - line.rest) : line.size;
            if (space && count && strlen(words[0]) == verb && !memcmp(words[0], line.rest, verb) &&
                option_given(space + 1, line.size - verb - 1, given, options))
                return 1;
        }
        if (!gates && !is(&line, "r")) continue;
        if (line.size == 1 && line.rest[0] == '-') {
            if (gates) bare_gated = 1; else bare_runs = 1;
        }
        if (!pattern_matches(line.rest, line.size, words, count, &tokens) || !tokens) continue;
        if (tokens > best || (tokens == best && (star < best_star || (star == best_star && gates))))
            best = tokens, best_star = star, verdict = gates;
    }
    if (!count && !options) return bare_gated || (verdict && !bare_runs);
    return verdict;
}

/* 1 where a tool that starts often is none of those calls that the gatekeeper is asked about, 0 where it is,
 * -1 for a tool that does not start often. Lines: the name, then words that must follow one another. */
static int passes(const char *directory, const char *name, int argc, char **argv) {
    size_t size, length = strlen(name);
    char *path = joined(directory, strlen(directory), ".often"), *table = read_file(path, &size);
    int known = 0;
    for (char *line = table, *stop; table && line < table + size; line = stop + 1) {
        stop = memchr(line, '\n', table + size - line);
        if (!stop) break;
        *stop = '\0';
        if (strncmp(line, name, length) || line[length] != ' ') continue;
        known = 1;
        for (int first = 1; first < argc; first++) {
            const char *word = line + length + 1;
            for (int at = first; at < argc; at++) {
                size_t end = strcspn(word, " ");
                if (strlen(argv[at]) != end || memcmp(argv[at], word, end)) break;
                if (!word[end]) return 0;
                word += end + 1;
            }
        }
    }
    return known ? 1 : -1;
}

#include "watch.h"

/* -- main ----------------------------------------------------------------------------------------------- */

static int become(const char *tool, const char *called, char **argv) {
    if (!tool) {
        say("sekisho: %s is not in this sandbox. Ask for it with sekisho-request.", called);
        return ABSENT;
    }
    argv[0] = (char *)called;
    execve(tool, argv, environ);
    say("sekisho: %s: %s", tool, strerror(errno));
    return 126;
}

/* The path this program was started by: by the kernel's word where argv[0] has none. */
static char *own_path(const char *argv0, const struct stat *own, const char *name) {
    struct stat found;
    static char linked[4096];
    const char *path = getenv("PATH");
    if (strchr(argv0, '/') && identity(argv0, &found) && same(&found, own)) return strdup(argv0);
    while (path) {
        size_t length = strcspn(path, ":");
        char *candidate = joined(path, length, name);
        if (identity(candidate, &found) && same(&found, own)) return candidate;
        free(candidate);
        path = path[length] ? path + length + 1 : NULL;
    }
    ssize_t size = readlink("/proc/self/exe", linked, sizeof linked - 1);
    linked[size > 0 ? size : 0] = '\0';
    return linked;
}

int main(int argc, char **argv) {
    struct stat own = {0}, folder = {0};
    char cwd[4096], *text = "", *table_path, *table;
    int status = BROKEN;
    size_t size;
    struct buffer payload = {0};
    if (argc < 1 || !argv[0]) return BROKEN;
    const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
    if (!getcwd(cwd, sizeof cwd)) strcpy(cwd, "/");
    if (!identity("/proc/self/exe", &own)) identity(argv[0], &own);
    char *path = own_path(argv[0], &own, name);
    char *end = strrchr(path, '/');
    /* What the caller put into argv[0] (`exec -a`) decides nothing: the file does, as for a script. */
    name = end ? end + 1 : path;
    char *directory = end == path ? strdup("/") : end ? strndup(path, end - path) : strdup(".");
    int known = directory && identity(directory, &folder);
    char *tool = find_tool(name, cwd, &own, known ? &folder : NULL);
    if (!tool) tool = covered(name);
    if (!tool) tool = covered(linked(path));
    const char *called = name;
    int often = directory ? passes(directory, name, argc, argv) : -1, connection = -1;
    /* An interpreter finds its installation by the name it is called by. */
    if (often >= 0 && tool) called = tool;
    if (often == 1 && tool) return become(tool, called, argv);
    enum answer answer = NONE;
    if (request(&payload, tool, cwd, argc, argv, name)) answer = ask(&payload, &status, &text, &connection);
    if (answer == REFUSE) {
        say("%s", text);
        return status;
    }
    if (answer == RUN) return become(tool, called, argv);
    if (answer == WATCH && tool) return watch(tool, called, argv, connection);
    table_path = joined(directory, strlen(directory), ".offline");
    table = read_file(table_path, &size);
    if (!table) table = read_file(SEKISHO_CLIENTS "/.offline", &size);
    if (table && !gated(table, size, name, argc, argv)) return become(tool, called, argv);
    say("sekisho: the gatekeeper does not answer, so %s is not run: it could change something outside or lose work.\n"
        "Local work goes on. Leave this step for the handoff; do not try it again now.", name);
    return BROKEN;
}
