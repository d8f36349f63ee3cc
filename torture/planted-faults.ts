// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are parts of sources

/** Faults in one file, and the tests of which at least one should find each of them. */
interface FaultyFile {
  readonly file: string
  readonly tests: readonly string[]
  /** Each text occurs once in the file. */
  readonly faults: readonly (readonly [name: string, text: string, replacement: string])[]
}

const SIMULATION = 'server/test/sim/sim.test.ts'
const BASKETS = 'server/test/faults/baskets/baskets.test.ts'
const TWO_INSTANCES = 'server/test/postgres/two-instances.test.ts'

export const FAULTY_FILES: readonly FaultyFile[] = [
  {
    file: 'server/src/store/sqlite/connection.ts',
    tests: [SIMULATION],
    faults: [
      [
        'acknowledges before the flush',
        "if (durability === 'durable') await serving.queue.untilFlushed()",
        '',
      ],
      [
        'shows unflushed reads',
        'const result = await this.#readWhenUnlocked(work)\n    await this.untilFlushed()',
        'const result = await this.#readWhenUnlocked(work)',
      ],
      ['shows an unflushed list', 'queue?.flushedUpTo ?? end.position', 'end.position'],
      ['skips the flush of an earlier run', 'this.#flushCommitsOfEarlierRun(this.#wal)', ''],
      ['leaves a failed transaction open', 'if (this.database.inTransaction) this.#rollback.run()', ''],
    ],
  },
  {
    file: 'server/src/store/sqlite/write-ahead-log.ts',
    tests: [SIMULATION],
    faults: [
      [
        'waits for the flush that has begun instead of the next',
        '(this.#waitingGroup ?? this.#flushingGroup)?.flushed',
        '(this.#flushingGroup ?? this.#waitingGroup)?.flushed',
      ],
      [
        'serves on after a failed flush',
        'for (const group of groups) group?.reject(this.#failure)',
        'this.#failure = undefined\n    for (const group of groups) group?.resolve()',
      ],
    ],
  },
  {
    file: 'server/src/store/sqlite/stock.ts',
    tests: [SIMULATION],
    faults: [['forgets the answers of requests with a key', 'answers.add(decision.answers)', '']],
  },
  {
    file: 'server/src/core/stock/decide.ts',
    tests: [SIMULATION],
    faults: [
      [
        'repeats the answer to another request with the same key',
        'return remembered.fingerprint === fingerprint',
        'return remembered.fingerprint !== undefined',
      ],
    ],
  },
  {
    file: 'server/src/core/stock/adjust.ts',
    tests: [SIMULATION],
    faults: [
      [
        'drops the If-Match of an update',
        'onlyIf === undefined ||\n    onlyIf.some(',
        'onlyIf !== null ||\n    onlyIf.some(',
      ],
      [
        'ignores the expected quantity of an adjustment',
        'expected === undefined || expected === quantity',
        'expected !== null || expected === quantity',
      ],
      [
        'makes an adjustment in part',
        'if (failures.some(({ code }) => !mustSkip || !SKIPPABLE.has(code))) return',
        'if (plans.length === 0) return',
      ],
    ],
  },
  {
    file: 'server/src/core/orders/orders-draft.ts',
    tests: [BASKETS],
    faults: [
      [
        'orders one unit more than is available',
        'if (additional <= 0 || additional <= available) return []',
        'if (additional <= 0 || additional <= available + 1) return []',
      ],
      ['keeps the units of a completed order reserved', 'if (isReserved) this.#release(order.lines)', ''],
      ['keeps the units of replaced lines reserved', '      this.#release(before.lines)\n', ''],
      [
        'sells a basket in part',
        'for (const line of order.lines) this.#stock.record(',
        'for (const line of order.lines.slice(0, 7)) this.#stock.record(',
      ],
      [
        'completes a late payment without the units',
        'const mustBeAvailable = !isReserved && !evenIfReserved',
        'const mustBeAvailable = false',
      ],
    ],
  },
  {
    file: 'server/src/core/stock/stock-draft.ts',
    tests: [SIMULATION],
    faults: [
      [
        'finds a pet low one unit too late',
        'availableOf(entry) <= entry.lowStockAt',
        'availableOf(entry) < entry.lowStockAt',
      ],
    ],
  },
  {
    file: 'server/src/core/stock/group-commit.ts',
    tests: ['server/test/core/group-commit.test.ts'],
    faults: [
      [
        'executes the command of a caller who was refused',
        'return requester?.hasLeft === true',
        'return requester === null',
      ],
      [
        'does not unlock the pets of a commit',
        'this.#freeSlots++\n      this.#changePendingPets(batch, -1)',
        'this.#freeSlots++',
      ],
      [
        'forgets the commits that wait for a lock',
        'if (next === undefined) this.#free++\n      else next()',
        'this.#free++',
      ],
    ],
  },
  {
    file: 'server/src/core/values/share-runs.ts',
    tests: [SIMULATION, 'server/test/core/live-view.test.ts'],
    faults: [
      [
        'shares a read that began before a change',
        'next = undefined\n      return run()',
        'return run().finally(() => (next = undefined))',
      ],
    ],
  },
  {
    file: 'server/src/store/search.ts',
    tests: [SIMULATION],
    faults: [
      [
        'finds pets by old names',
        'if (cursor === this.#cursor) return index',
        'if (cursor !== null) return index',
      ],
    ],
  },
  {
    file: 'server/src/core/stock/event-hub.ts',
    tests: ['server/test/core/event-hub.test.ts'],
    faults: [
      [
        'stops after a page of events',
        'if (read.events.length === MAX_EVENTS_PER_READ) this.#isDue = true',
        '',
      ],
      ['sends to a reader that has left', 'if (this.#cursors.get(reader) !== cursor) continue', ''],
      [
        'sends events from before the cursor of the reader',
        'this.#cursors.set(reader, read.cursor)',
        'this.#cursors.set(reader, cursor)',
      ],
    ],
  },
  {
    file: 'server/src/http/event-streams.ts',
    tests: ['server/test/http/event-streams.test.ts'],
    faults: [
      [
        'collects any number of events for a slow reader',
        'return this.#unsentBytes() < MAX_UNSENT_BYTES',
        'return this.#unsentBytes() < Number.POSITIVE_INFINITY',
      ],
    ],
  },
  {
    file: 'server/src/core/webhooks/webhook-runner.ts',
    tests: [SIMULATION],
    faults: [
      [
        'sends later events of a pet before a failed one',
        'this.#window.removePetOf(delivery)',
        'this.#window.finish(delivery)',
      ],
      [
        'saves the progress of events that have not arrived',
        'this.#window.head?.cursorBefore ?? this.#position',
        'this.#cursor',
      ],
    ],
  },
  {
    file: 'server/src/store/webhooks.ts',
    tests: ['server/test/postgres/webhook-leases.test.ts'],
    faults: [
      [
        'lets two instances deliver the same webhook',
        'lease_owner === owner && lease_until >= now',
        'lease_until >= now',
      ],
      [
        'never takes over the webhook of an instance that was killed',
        'WHERE lease_owner = $1 OR lease_until <',
        'WHERE lease_owner = $1 AND lease_until <',
      ],
    ],
  },
  {
    file: 'server/src/store/postgres/stock.ts',
    tests: [TWO_INSTANCES],
    faults: [
      [
        'lets two instances change a pet at once',
        'ANY ($1::bigint[]) ORDER BY pet_id FOR NO KEY UPDATE`',
        'ANY ($1::bigint[]) ORDER BY pet_id`',
      ],
      [
        'lets two instances decide a request with the same key',
        'ON CONFLICT (key_id, key) DO UPDATE SET forget_at = idempotency.forget_at\n    RETURNING',
        'ON CONFLICT (key_id, key) DO NOTHING\n    RETURNING',
      ],
      ['shows the list of an instance as it was', 'version: () => undefined', 'version: () => 1'],
    ],
  },
  {
    file: 'server/src/store/postgres/connection.ts',
    tests: ['server/test/postgres/lost-connections.test.ts', 'server/test/postgres/outages.test.ts'],
    faults: [
      [
        'acknowledges before PostgreSQL has flushed',
        "durability === 'durable' ? ''",
        "durability === null ? ''",
      ],
      [
        'says that nothing was changed when the COMMIT was lost',
        'throw isCommitSent && isConnectionLost(cause) ? commitLostError(cause) : error',
        'throw error',
      ],
    ],
  },
  {
    file: 'server/src/core/limits/rate-windows.ts',
    tests: ['server/test/core/rate-windows.test.ts', 'server/test/core/limit-ledger.test.ts'],
    faults: [
      [
        'ends a window a moment too late',
        'if (now >= window.startedAt + length) {',
        'if (now > window.startedAt + length) {',
      ],
      [
        'admits one request more than the minute allows',
        'minute.used >= limits.perMinute',
        'minute.used > limits.perMinute',
      ],
      [
        'lets a ban last until the clock has caught up',
        'if (setBackMs <= 0) return',
        'if (setBackMs !== 0) return',
      ],
      ['does not double a ban', '(last.endsAt - last.beganAt) * 2', 'last.endsAt - last.beganAt'],
      [
        'lets keys wait longer that were idle while the clock was set back',
        'if (now <= this.#time - SECOND) {',
        'if (now <= this.#time - DAY) {',
      ],
    ],
  },
  {
    file: 'server/src/store/table-changes.ts',
    tests: [SIMULATION],
    faults: [
      [
        'does not write reserved units to SQLite',
        'entryValues(petId, entry))',
        'entryValues(petId, { ...entry, reserved: 0 }))',
      ],
    ],
  },
  {
    file: 'server/src/store/table-changes.ts',
    tests: ['server/test/store/postgres.test.ts'],
    faults: [
      [
        'does not write reserved units to PostgreSQL',
        'entryValues(petId, entry))',
        'entryValues(petId, { ...entry, reserved: 0 }))',
      ],
    ],
  },
  {
    file: 'server/src/core/orders/import-order.ts',
    tests: ['server/test/core/import-order.test.ts'],
    faults: [
      [
        'imports an order that reserves units it already has',
        'orders.reservationFailures(lines, existing?.lines)',
        'orders.reservationFailures(lines)',
      ],
      [
        'reopens a complete order',
        'if (isComplete && !row.complete) return',
        'if (isComplete && row === null) return',
      ],
    ],
  },
  {
    file: 'server/src/core/transfer/import.ts',
    tests: ['server/test/store/sqlite.test.ts'],
    faults: [
      ['commits a dry run', 'if (dryRun) throw new DryRunEnds()', ''],
      [
        'commits an import with refused rows',
        'if (refused.length > 0) throw new RowsRefused(kind, refused)',
        '',
      ],
    ],
  },
  {
    file: 'server/src/core/transfer/import-plan.ts',
    tests: ['server/test/store/sqlite.test.ts'],
    faults: [
      [
        'gives a pet a barcode that a later pet still has',
        'takenBarcodes.size === 0 ||',
        'takenBarcodes.size >= 0 ||',
      ],
    ],
  },
  {
    file: 'server/src/core/transfer/csv.ts',
    tests: ['server/test/core/import-files.test.ts'],
    faults: [
      ['miscounts the lines of a record', 'line += 1 + record', 'line += 1 + 0 * record'],
      ['keeps the carriage return of a line', "field.endsWith('\\r')", "field.endsWith('\\n\\r')"],
    ],
  },
  {
    file: 'server/src/core/transfer/rows.ts',
    tests: ['server/test/core/import-files.test.ts'],
    faults: [
      ['guesses an ambiguous number', 'locale === undefined && (isGrouped', 'locale === undefined && (false'],
    ],
  },
  {
    file: 'server/src/core/webhooks/webhook.ts',
    tests: ['server/test/http/webhooks.test.ts', 'server/test/http/webhook-deliveries.test.ts'],
    faults: [['signs with an old secret for ever', 'oldSecret.until > now', 'oldSecret.until > 0']],
  },
  {
    file: 'server/src/delivery/message.ts',
    tests: ['server/test/http/webhook-deliveries.test.ts', 'client/test/verify-webhook.test.ts'],
    faults: [['signs without the time', '.${timestampSeconds}.${body}', '.${body}']],
  },
  {
    file: 'wire/src/request.ts',
    tests: ['server/test/faults/hostile/requests.test.ts', 'wire/test/trailers.test.ts'],
    faults: [
      ['reads a body with two lengths', 'if (length !== null) {', "if (length === '') {"],
      [
        'accepts a Content-Length that is no number',
        'if (!CONTENT_LENGTH.test(length)) throw',
        'if (length === null) throw',
      ],
    ],
  },
  {
    file: 'wire/src/network.ts',
    tests: ['wire/test/network.test.ts'],
    faults: [
      ['counts each address of an IPv6 network', "return `${network.join(':')}::/64`", 'return address'],
    ],
  },
  {
    file: 'wire/src/connection.ts',
    tests: ['wire/test/pipelining.test.ts', 'wire/test/stopping.test.ts', 'wire/test/timeouts.test.ts'],
    faults: [
      ['keeps a connection open that was to close', 'if (pending.isLast) this.#close()', ''],
      [
        'finishes no request while it stops',
        'if (this.#listener.isStopping || pending.awaitsContinue)',
        'if (pending.awaitsContinue)',
      ],
    ],
  },
  {
    file: 'web/src/staff-page/data/server-clock.ts',
    tests: ['web/test/unit/server-clock.test.ts'],
    faults: [
      [
        'keeps the difference of clocks after one was set',
        'agrees ? Math.min(this.#most, most) : most',
        'Math.min(this.#most, most)',
      ],
    ],
  },
  {
    file: 'web/src/staff-page/low-stock/reorder-list.ts',
    tests: ['web/test/unit/overview-figures.test.ts'],
    faults: [
      ['suggests too few units to end a warning', 'lowStockAt + 1 - free', 'lowStockAt - free'],
      ['runs a name as a formula of the spreadsheet', "`'${text}` : text", 'text : text'],
    ],
  },
  {
    file: 'web/src/staff-page/count/count-draft.ts',
    tests: ['web/test/unit/count/count-draft.test.ts'],
    faults: [
      [
        'counts on after a count was applied',
        'entry === undefined || entry.isApplied',
        'entry === undefined',
      ],
    ],
  },
]
