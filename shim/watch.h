/*
 * What watch.py does, compiled: runs a tool as a child and tells the gatekeeper how it ended. The child stays in
 * this process group; output that goes to no terminal passes through a pipe, of which the end is kept.
 */
#define OUTPUT (64 * 1024)
#define PATIENCE_MS 5000
#define TURN_MS 100

static const int FORWARDED[] = {SIGHUP, SIGTERM, SIGUSR1, SIGUSR2, SIGINT, SIGQUIT};
enum { SIGNALS = sizeof FORWARDED / sizeof *FORWARDED };

struct flow { int reading, writing, target; };
static struct { struct flow flows[2]; int count; char output[2 * OUTPUT]; size_t size; } run;
static volatile pid_t child;

/* Whether the terminal's keys reach this process group, and so the child already. */
static int in_foreground(void) {
    int terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0) return 0;
    int found = tcgetpgrp(terminal) == getpgrp();
    close(terminal);
    return found;
}

static void forward(int number) {
    int kept = errno;
    if (child > 0 && !((number == SIGINT || number == SIGQUIT) && in_foreground())) kill(child, number);
    errno = kept;
}

/* Pipes for what is no terminal; one for both where both are the same. `of` has the flow of each descriptor. */
static void open_flows(int of[3]) {
    struct stat one, other;
    for (int fd = 1; fd <= 2; fd++) {
        int ends[2];
        of[fd] = -1;
        if (fstat(fd, &one) || isatty(fd)) continue;
        if (fd == 2 && of[1] >= 0 && !fstat(1, &other) && same(&one, &other)) {
            of[2] = of[1];
        } else if (pipe2(ends, O_CLOEXEC) == 0) {
            of[fd] = run.count;
            run.flows[run.count++] = (struct flow){ends[0], ends[1], fd};
        }
    }
}

static int write_out(int fd, const char *data, size_t size) {
    while (size > 0) {
        ssize_t wrote = write(fd, data, size);
        if (wrote < 0 && errno == EAGAIN) {
            struct pollfd one = {.fd = fd, .events = POLLOUT};
            poll(&one, 1, -1);
        } else if (wrote < 0 && errno != EINTR) {
            return 0;
        } else if (wrote > 0) {
            data += wrote, size -= wrote;
        }
    }
    return 1;
}

static void keep(const char *data, size_t size) {
    if (run.size + size > sizeof run.output) {
        size_t left = run.size < OUTPUT ? run.size : OUTPUT;
        memmove(run.output, run.output + run.size - left, left);
        run.size = left;
    }
    memcpy(run.output + run.size, data, size);
    run.size += size;
}

/* Nobody reads any more: closing our end lets the tool see it, as in any pipeline. */
static void copy(int at) {
    char piece[OUTPUT];
    ssize_t got = read(run.flows[at].reading, piece, sizeof piece);
    if (got < 0 && errno == EINTR) return;
    if (got > 0) keep(piece, got);
    if (got <= 0 || !write_out(run.flows[at].target, piece, got)) {
        close(run.flows[at].reading);
        run.flows[at] = run.flows[--run.count];
    }
}

/* Copies what is there; the number of pipes that had something. */
static int turn(int wait) {
    struct pollfd list[2];
    int count = run.count, found;
    for (int at = 0; at < count; at++) list[at] = (struct pollfd){.fd = run.flows[at].reading, .events = POLLIN};
    found = poll(list, count, wait);
    for (int at = count - 1; found > 0 && at >= 0; at--)
        if (list[at].revents) copy(at);
    return found;
}

/* 1 once the child has ended. A stopped child stops its parent, which the shell waits for; what the terminal
 * stops it stops as a group: this process, too. */
static int ended(int options, int *raw) {
    pid_t found = waitpid(child, raw, options | WUNTRACED);
    if (found <= 0) return found < 0 && errno != EINTR;
    if (!WIFSTOPPED(*raw)) return 1;
    if (WSTOPSIG(*raw) != SIGSTOP) return 0;
    kill(getpid(), SIGSTOP);
    kill(child, SIGCONT);
    return 0;
}

static void report(int connection, int status) {
    char head[64];
    size_t kept = 0, from = run.size > OUTPUT ? run.size - OUTPUT : 0;
    for (size_t at = from; at < run.size; at++)
        if (run.output[at]) run.output[kept++] = run.output[at];
    run.output[kept++] = '\0';
    int prefix = snprintf(head, sizeof head, "1%cended%c%d%c", 0, 0, status, 0);
    char size[16];
    long end = now_ms() + PATIENCE_MS;
    snprintf(size, sizeof size, "%zu:", prefix + kept);
    if (send_all(connection, size, strlen(size), end) && send_all(connection, head, prefix, end) &&
        send_all(connection, run.output, kept, end) && send_all(connection, ",", 1, end))
        ready(connection, POLLIN, end);
}

static int watch(const char *tool, const char *called, char **argv, int connection) {
    struct sigaction given[SIGNALS], own = {.sa_handler = forward};
    int of[3], raw = 0, over = 0;
    open_flows(of);
    for (int at = 0; at < SIGNALS; at++) {
        sigaction(FORWARDED[at], NULL, &given[at]);
        if (given[at].sa_handler != SIG_IGN) sigaction(FORWARDED[at], &own, NULL);
    }
    argv[0] = (char *)called;
    child = fork();
    if (child < 0) return say("sekisho: %s: %s", tool, strerror(errno)), 126;
    if (child == 0) {
        for (int at = 0; at < SIGNALS; at++) sigaction(FORWARDED[at], &given[at], NULL);
        for (int fd = 1; fd <= 2; fd++)
            if (of[fd] >= 0) dup2(run.flows[of[fd]].writing, fd);
        execve(tool, argv, environ);
        say("sekisho: %s: %s", tool, strerror(errno));
        _exit(126);
    }
    signal(SIGPIPE, SIG_IGN);
    for (int at = 0; at < run.count; at++) close(run.flows[at].writing);
    while (run.count > 0) {
        int found = turn(TURN_MS);
        if (over && found == 0) break;
        if (!over) over = ended(WNOHANG, &raw);
    }
    while (!over) over = ended(0, &raw);
    /* What the tool left running may print on; that must not keep who waits for the tool. */
    if (run.count > 0 && fork() == 0) {
        while (run.count > 0) turn(-1);
        _exit(0);
    }
    int number = WIFSIGNALED(raw) ? WTERMSIG(raw) : 0, status = number ? 128 + number : WEXITSTATUS(raw);
    report(connection, status);
    if (number) {
        signal(number, SIG_DFL);
        kill(getpid(), number);
    }
    return status;
}
