import { expect, test } from 'bun:test'
import { needsMigration, type TablesMode } from '../../src/store/opening.ts'

const NO_TABLES = 'the database has no tables of this program: run petstore migrate, or start petstore serve'
const OLDER =
  'the database has version 1, this program needs 2: stop the service and run petstore migrate, or start petstore serve'
const NEWER = 'the database has a newer version (3) than this program knows (2); start the newer program'

test.each([
  ['make', undefined, true],
  ['make', 0, true],
  ['make', 1, true],
  ['make', 2, false],
  ['make', 3, NEWER],
  ['make_if_none', undefined, true],
  ['make_if_none', 0, NO_TABLES],
  ['make_if_none', 1, OLDER],
  ['make_if_none', 2, false],
  ['make_if_none', 3, NEWER],
  ['expect', undefined, NO_TABLES],
  ['expect', 0, NO_TABLES],
  ['expect', 1, OLDER],
  ['expect', 2, false],
  ['expect', 3, NEWER],
] satisfies [TablesMode, number | undefined, boolean | string][])(
  '%s with tables of version %p: %p',
  (mode, version, outcome) => {
    const decide = () => needsMigration(version, 2, mode)
    if (typeof outcome === 'string') expect(decide).toThrow(outcome)
    else expect(decide()).toBe(outcome)
  },
)
