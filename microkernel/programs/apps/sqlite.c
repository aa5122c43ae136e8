/* SPDX-License-Identifier: Apache-2.0
 *
 * SQLite with a database in memory (X7), with one table of three columns. Rows are inserted; every third one
 * is deleted, updated and selected; finally all are deleted. Each statement is a separate transaction.
 */
#include "microkernel/include/microkernel/component.h"
#include "microkernel/programs/apps/app.h"
#include "sqlite3.h"

#define THIRD          3
#define POLL_OPERATION 1 /* instructions of SQLite's virtual machine between two polls of the clock */

RT_PARAMETERS(APP_PARAMETERS, {"rows", 16384});

static sqlite3 *database;

static void check(int result)
{
    if (result != SQLITE_OK && result != SQLITE_DONE && result != SQLITE_ROW) {
        app_fail(database != 0 ? sqlite3_errmsg(database) : sqlite3_errstr(result));
    }
}

static sqlite3_stmt *prepare(const char *text)
{
    sqlite3_stmt *statement = 0;

    check(sqlite3_prepare_v2(database, text, -1, &statement, 0));
    return statement;
}

static void run(const char *text)
{
    check(sqlite3_exec(database, text, 0, 0, 0));
}

/* Runs a statement to its end, and resets it for other values. */
static void step(sqlite3_stmt *statement)
{
    app_poll();
    while (sqlite3_step(statement) == SQLITE_ROW) {
    }
    app_poll();
    check(sqlite3_reset(statement));
    app_poll();
}

static void insert_rows(int rows)
{
    sqlite3_stmt *statement = prepare("INSERT INTO measured VALUES (?1, ?2, printf('row %d', ?1 * 7))");

    for (int id = 0; id < rows; id++) {
        check(sqlite3_bind_int(statement, 1, id));
        check(sqlite3_bind_int(statement, 2, id * 13 % 1009));
        step(statement);
    }
    check(sqlite3_finalize(statement));
}

/* Runs a statement for every third id. Returns the number of rows changed. */
static uint64_t change_rows(const char *text, int first, int rows)
{
    sqlite3_stmt *statement = prepare(text);
    uint64_t changed = 0;

    for (int id = first; id < rows; id += THIRD) {
        check(sqlite3_bind_int(statement, 1, id));
        step(statement);
        changed += (uint64_t)sqlite3_changes(database);
    }
    check(sqlite3_finalize(statement));
    return changed;
}

static uint32_t add_text(uint32_t sum, const unsigned char *text)
{
    while (text != 0 && *text != '\0') {
        sum = sum * 31u + *text++;
    }
    return sum;
}

/* Checksum of value and text of every third row. */
static uint32_t select_rows(int first, int rows, uint64_t *selected)
{
    sqlite3_stmt *statement = prepare("SELECT value, text FROM measured WHERE id = ?1");
    uint32_t sum = 0;

    for (int id = first; id < rows; id += THIRD) {
        check(sqlite3_bind_int(statement, 1, id));
        while (sqlite3_step(statement) == SQLITE_ROW) {
            sum = add_text(sum * 31u + (uint32_t)sqlite3_column_int(statement, 0),
                           sqlite3_column_text(statement, 1));
            (*selected)++;
        }
        check(sqlite3_reset(statement));
    }
    check(sqlite3_finalize(statement));
    return sum;
}

/* Checksum of all rows, in order. */
static uint32_t sum_rows(void)
{
    sqlite3_stmt *statement = prepare("SELECT id, value, text FROM measured ORDER BY id");
    uint32_t sum = 0;

    while (sqlite3_step(statement) == SQLITE_ROW) {
        sum = sum * 31u + (uint32_t)sqlite3_column_int(statement, 0);
        sum = sum * 31u + (uint32_t)sqlite3_column_int(statement, 1);
        sum = add_text(sum, sqlite3_column_text(statement, 2));
    }
    check(sqlite3_finalize(statement));
    return sum;
}

static int poll(void *unused)
{
    (void)unused;
    app_poll();
    return 0;
}

/* SQLite's original methods. */
static sqlite3_pcache_methods2 pages;
static sqlite3_mem_methods memory;

static sqlite3_pcache_page *fetch(sqlite3_pcache *cache, unsigned key, int create)
{
    app_poll();
    return pages.xFetch(cache, key, create);
}

static void unpin(sqlite3_pcache *cache, sqlite3_pcache_page *page, int discard)
{
    app_poll();
    pages.xUnpin(cache, page, discard);
}

static void *allocate(int bytes)
{
    app_poll();
    return memory.xMalloc(bytes);
}

static void release(void *what)
{
    app_poll();
    memory.xFree(what);
}

/* SQLite's virtual machine polls the clock only at jumps, of which a statement has few. Therefore accesses to
 * database pages and allocations poll it, too. */
static void poll_often(void)
{
    sqlite3_pcache_methods2 polling;
    sqlite3_mem_methods allocating;

    check(sqlite3_config(SQLITE_CONFIG_GETPCACHE2, &pages));
    polling = pages;
    polling.xFetch = fetch;
    polling.xUnpin = unpin;
    check(sqlite3_config(SQLITE_CONFIG_PCACHE2, &polling));
    check(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory));
    allocating = memory;
    allocating.xMalloc = allocate;
    allocating.xFree = release;
    check(sqlite3_config(SQLITE_CONFIG_MALLOC, &allocating));
}

void component_main(void)
{
    int rows = (int)rt_parameter("rows");
    uint64_t selected = 0, deleted, updated;
    uint32_t sum, left;

    app_begin("sqlite");
    poll_often();
    check(sqlite3_open(":memory:", &database));
    sqlite3_progress_handler(database, POLL_OPERATION, poll, 0);
    run("CREATE TABLE measured (id INTEGER PRIMARY KEY, value INTEGER, text TEXT)");
    insert_rows(rows);
    deleted = change_rows("DELETE FROM measured WHERE id = ?1", 0, rows);
    updated = change_rows("UPDATE measured SET value = value * 2 + 1 WHERE id = ?1", 1, rows);
    sum = select_rows(2, rows, &selected);
    left = sum_rows();
    run("DELETE FROM measured");
    app_report();
    app_field("rows", (uint64_t)rows);
    app_field("deleted", deleted);
    app_field("updated", updated);
    app_field("selected", selected);
    app_field("selected_checksum", sum);
    app_field("left_checksum", left);
    app_field("deleted_last", (uint64_t)sqlite3_changes(database));
    app_field("memory_bytes", (uint64_t)sqlite3_memory_highwater(0));
    app_text("version", sqlite3_libversion());
    app_end();
    check(sqlite3_close(database));
}
