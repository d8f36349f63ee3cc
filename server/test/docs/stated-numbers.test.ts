import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { DEFAULT_BODY_BYTES, MAX_BODY_BYTES } from '@petstore/wire'
import { PAIRING_CODE_MINUTES } from '../../src/core/keys/pairing.ts'
import { ANONYMOUS_PER_MINUTE } from '../../src/core/limits/rate-windows.ts'
import { ANSWERS_KEPT_HOURS } from '../../src/core/stock/decide.ts'
import { GIVE_UP_DAYS, OLD_SECRET_HOURS } from '../../src/core/webhooks/webhook.ts'
import { MAX_KEPT_ATTEMPTS } from '../../src/core/webhooks/webhook-store.ts'
import { HEARTBEAT_SECONDS } from '../../src/http/events.ts'

const ROOT = join(import.meta.dir, '../../..')
const KIB = 1_024

/** The number at `#` of a phrase, wherever the phrase occurs. The guides of the API docs are built from the definitions. */
const STATED: readonly [phrase: string, defined: number, files: readonly string[]][] = [
  [
    '# days',
    GIVE_UP_DAYS,
    [
      'docs/webhooks.md',
      'docs/troubleshooting.md',
      'docs/decisions/2026-11-16-webhooks.md',
      'deploy/prometheus/petstore.rules.yml',
      'web/src/staff-page/data/webhooks/webhook-words.ts',
    ],
  ],
  [
    '# hours,? (?:every delivery|deliveries)',
    OLD_SECRET_HOURS,
    ['docs/webhooks.md', 'web/src/staff-page/webhooks/webhook-card.tsx'],
  ],
  ['# attempts', MAX_KEPT_ATTEMPTS, ['docs/webhooks.md']],
  [
    '[Ww]ithin # hours',
    ANSWERS_KEPT_HOURS,
    [
      'docs/api.md',
      'client/README.md',
      'client-python/README.md',
      'client/src/errors.ts',
      'client/src/options.ts',
    ],
  ],
  ['after # hours', ANSWERS_KEPT_HOURS, ['client/src/transport.ts']],
  [
    'every # s(?:econds)?\\b',
    HEARTBEAT_SECONDS,
    ['client/src/events.ts', 'client-python/petstore_inventory/events.py'],
  ],
  ['(?:for|than) # minutes', PAIRING_CODE_MINUTES, ['docs/keys.md', 'web/src/staff-page/session/pairing.ts']],
  ['times # guesses a minute', ANONYMOUS_PER_MINUTE, ['docs/scaling.md']],
  ['over # KiB', DEFAULT_BODY_BYTES / KIB, ['docs/troubleshooting.md']],
  ['\\(# KiB for adjustments', MAX_BODY_BYTES / KIB, ['docs/troubleshooting.md']],
]

test.each(
  STATED.flatMap(([phrase, defined, files]) => files.map((file) => [file, phrase, defined] as const)),
)('%s states "%s" as it is defined', async (file, phrase, defined) => {
  const text = (await Bun.file(join(ROOT, file)).text()).replaceAll(/\s+/g, ' ')
  const matches = text.matchAll(new RegExp(phrase.replace('#', '([\\d,]+)'), 'g'))
  const numbers = Array.from(matches, ([, number = '']) => Number(number.replaceAll(',', '')))
  expect(numbers.filter((number) => number !== defined)).toEqual([])
})
