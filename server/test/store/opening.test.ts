import { expect, test } from 'bun:test'
import { needsMigration, type TablesMode } from '../../src/store/opening.ts'

const NO_TABLES = 'the database has no tables of this program: run petstore migrate, or start petstore serve'
const OLDER =
  'the database has version 1, this program needs 2: stop the service and run petstore migrate, or start petstore serve'
const NEWER = 'the database has a newer version (3) than this program knows (2); start the newer program'

test.each([
  ['migrate', undefined, true],
  ['migrate', 0, true],
  ['migrate', 1, true],
  ['migrate', 2, false],
  ['migrate', 3, NEWER],
  ['create_if_missing', undefined, true],
  ['create_if_missing', 0, NO_TABLES],
  ['create_if_missing', 1, OLDER],
  ['create_if_missing', 2, false],
  ['create_if_missing', 3, NEWER],
  ['require_current_tables', undefined, NO_TABLES],
  ['require_current_tables', 0, NO_TABLES],
  ['require_current_tables', 1, OLDER],
  ['require_current_tables', 2, false],
  ['require_current_tables', 3, NEWER],
] satisfies [TablesMode, number | undefined, boolean | string][])(
  '%s with tables of version %p: %p',
  (mode, version, outcome) => {
    const decide = () => needsMigration(version, 2, mode)
    if (typeof outcome === 'string') expect(decide).toThrow(outcome)
    else expect(decide()).toBe(outcome)
  },
)
