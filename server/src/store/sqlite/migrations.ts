import type { Database } from 'bun:sqlite'
import { needsMigration, type TablesMode } from '../opening.ts'

interface Migration {
  readonly number: number
  readonly sql: string
}

/** Append only: a migration that has been released is never edited. */
const MIGRATIONS: readonly Migration[] = [
  {
    number: 1,
    sql: `
      CREATE TABLE pets (
        id          INTEGER PRIMARY KEY,
        name        TEXT NOT NULL,
        category_id INTEGER NOT NULL
      ) STRICT;

      -- The status stands here, not in pets, so that listing the stock reads one narrow table.
      CREATE TABLE stock (
        pet_id   INTEGER PRIMARY KEY REFERENCES pets (id) ON DELETE CASCADE,
        quantity INTEGER NOT NULL CHECK (quantity BETWEEN 0 AND 9007199254740991),
        status   TEXT NOT NULL CHECK (status IN ('available', 'pending', 'sold')),
        -- The pet's latest row in the history.
        last_change INTEGER
      ) STRICT;
      CREATE INDEX stock_by_status ON stock (status, pet_id);

      -- Where the history of a pet that is gone ends, in case that it comes back.
      CREATE TABLE removed_stock (
        pet_id      INTEGER PRIMARY KEY,
        last_change INTEGER NOT NULL
      ) STRICT;

      -- No foreign key: the history outlives the pet. The status is the one right after the change. Each row knows
      -- the pet's row before it, and the stock the last one. An index by pet would do as well, but every update
      -- would write to a random page of it: 16 µs and 7.5 kB of log an update instead of 5 µs and 2.8 kB.
      CREATE TABLE history (
        id        INTEGER PRIMARY KEY AUTOINCREMENT,
        pet_id    INTEGER NOT NULL,
        before    INTEGER NOT NULL,
        after     INTEGER NOT NULL,
        at        INTEGER NOT NULL,
        key_id    TEXT NOT NULL,
        status    TEXT NOT NULL,
        previous  INTEGER
      ) STRICT;
      -- A quantity changes by getting a history row: the two cannot disagree.
      CREATE TRIGGER history_sets_stock AFTER INSERT ON history
        BEGIN UPDATE stock SET quantity = NEW.after, last_change = NEW.id WHERE pet_id = NEW.pet_id; END;
      CREATE TRIGGER history_is_not_edited BEFORE UPDATE ON history
        BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;
      CREATE TRIGGER history_is_not_erased BEFORE DELETE ON history
        BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;

      -- Changes that leave no history row. An entry: added or of another status, with its state right after that.
      -- Relist, without a pet_id: so many at once that the whole list is to be read again. Together with the history
      -- it is the log of all that happened: a row here comes after the history up to after_history.
      CREATE TABLE stock_changes (
        id            INTEGER PRIMARY KEY AUTOINCREMENT,
        after_history INTEGER NOT NULL,
        kind          TEXT NOT NULL CHECK (kind IN ('entry', 'removed', 'renamed', 'relist')),
        pet_id        INTEGER,
        quantity      INTEGER,
        status        TEXT
      ) STRICT;

      CREATE TABLE orders (
        id        INTEGER PRIMARY KEY,
        pet_id    INTEGER NOT NULL,
        quantity  INTEGER NOT NULL,
        ship_date INTEGER NOT NULL,
        complete  INTEGER NOT NULL CHECK (complete IN (0, 1))
      ) STRICT;

      -- A key outlives its secrets: rotating gives it a new one, and limits and history go on.
      CREATE TABLE keys (
        id         TEXT PRIMARY KEY,
        name       TEXT NOT NULL,
        plan       TEXT NOT NULL,
        per_minute INTEGER NOT NULL,
        per_day    INTEGER NOT NULL,
        read_only  INTEGER NOT NULL CHECK (read_only IN (0, 1)),
        created_at INTEGER NOT NULL,
        expires_at INTEGER,
        revoked_at INTEGER
      ) STRICT;

      CREATE TABLE key_secrets (
        hash       TEXT PRIMARY KEY,
        key_id     TEXT NOT NULL REFERENCES keys (id),
        hint       TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        expires_at INTEGER
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX key_secrets_by_key ON key_secrets (key_id);

      CREATE TABLE audit (
        id     INTEGER PRIMARY KEY AUTOINCREMENT,
        at     INTEGER NOT NULL,
        actor  TEXT NOT NULL,
        action TEXT NOT NULL,
        key_id TEXT NOT NULL,
        detail TEXT NOT NULL
      ) STRICT;

      CREATE TABLE limit_windows (
        key_id            TEXT PRIMARY KEY,
        minute_started_at INTEGER NOT NULL,
        minute_used       INTEGER NOT NULL,
        minute_rejected   INTEGER NOT NULL,
        day_started_at    INTEGER NOT NULL,
        day_used          INTEGER NOT NULL,
        day_rejected      INTEGER NOT NULL,
        last_used_at      INTEGER NOT NULL
      ) STRICT;

      CREATE TABLE bans (
        key_id    TEXT NOT NULL,
        began_at  INTEGER NOT NULL,
        ends_at   INTEGER NOT NULL,
        lifted_at INTEGER,
        PRIMARY KEY (key_id, began_at)
      ) STRICT, WITHOUT ROWID;

      -- Requests of one key on one day (UTC), for the usage report.
      CREATE TABLE usage_days (
        key_id   TEXT NOT NULL,
        day      TEXT NOT NULL,
        accepted INTEGER NOT NULL,
        rejected INTEGER NOT NULL,
        PRIMARY KEY (key_id, day)
      ) STRICT, WITHOUT ROWID;
    `,
  },
  {
    // Bans are numbered, since a clock that is set back moves their times.
    number: 2,
    sql: `
      CREATE TABLE numbered_bans (
        key_id    TEXT NOT NULL,
        number    INTEGER NOT NULL,
        began_at  INTEGER NOT NULL,
        ends_at   INTEGER NOT NULL,
        lifted_at INTEGER,
        PRIMARY KEY (key_id, number)
      ) STRICT, WITHOUT ROWID;
      INSERT INTO numbered_bans
        SELECT key_id, row_number() OVER (PARTITION BY key_id ORDER BY began_at), began_at, ends_at, lifted_at
        FROM bans;
      DROP TABLE bans;
      ALTER TABLE numbered_bans RENAME TO bans;
    `,
  },
  {
    // Without AUTOINCREMENT, which would write to a page of its own in every commit, so that no id is given twice.
    // No row of the history is ever removed, so none is given twice anyway.
    number: 3,
    sql: `
      CREATE TABLE plain_history (
        id        INTEGER PRIMARY KEY,
        pet_id    INTEGER NOT NULL,
        before    INTEGER NOT NULL,
        after     INTEGER NOT NULL,
        at        INTEGER NOT NULL,
        key_id    TEXT NOT NULL,
        status    TEXT NOT NULL,
        previous  INTEGER
      ) STRICT;
      INSERT INTO plain_history SELECT id, pet_id, before, after, at, key_id, status, previous FROM history;
      DROP TABLE history;
      ALTER TABLE plain_history RENAME TO history;
      CREATE TRIGGER history_sets_stock AFTER INSERT ON history
        BEGIN UPDATE stock SET quantity = NEW.after, last_change = NEW.id WHERE pet_id = NEW.pet_id; END;
      CREATE TRIGGER history_is_not_edited BEFORE UPDATE ON history
        BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;
      CREATE TRIGGER history_is_not_erased BEFORE DELETE ON history
        BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;
    `,
  },
  {
    // An update writes its history alone; the stock is brought up to it later. See late-stock.ts.
    number: 4,
    sql: `
      DROP TRIGGER history_sets_stock;
      ALTER TABLE stock RENAME TO settled_stock;
      -- Every row of the history up to this id has gone into settled_stock.
      CREATE TABLE settled (up_to INTEGER NOT NULL) STRICT;
      INSERT INTO settled SELECT coalesce(max(id), 0) FROM history;
      -- Of each pet that has later ones, the latest: with max(), SQLite takes the other columns from that row.
      CREATE VIEW late_changes AS
        SELECT pet_id, after, max(id) AS id FROM history WHERE id > (SELECT up_to FROM settled) GROUP BY pet_id;
      -- What the stock is.
      CREATE VIEW stock AS
        SELECT settled_stock.pet_id, coalesce(after, quantity) AS quantity, status, coalesce(id, last_change) AS last_change
        FROM settled_stock LEFT JOIN late_changes ON late_changes.pet_id = settled_stock.pet_id;
    `,
  },
]

const NEWEST = MIGRATIONS.at(-1)?.number ?? 0

/** Brings the file to the newest form, or to an earlier one, if `tables` allows it. Safe when several processes start at once. */
export function migrate(database: Database, tables: TablesMode, newest = NEWEST): void {
  const apply = database.transaction(() => {
    const version = versionOf(database)
    if (!needsMigration(version, newest, tables)) return
    for (const migration of MIGRATIONS) {
      if (migration.number <= (version ?? 0) || migration.number > newest) continue
      database.run(migration.sql)
      database.run(`PRAGMA user_version = ${migration.number}`)
    }
  })
  if (needsMigration(versionOf(database), newest, tables)) apply.immediate()
}

/** `undefined` where there are no tables at all. */
function versionOf(database: Database): number | undefined {
  const row = database.query<{ user_version: bigint }, []>('PRAGMA user_version').get()
  const isEmpty = database.query('SELECT 1 FROM sqlite_schema LIMIT 1').get() === null
  return isEmpty ? undefined : Number(row?.user_version ?? 0)
}
