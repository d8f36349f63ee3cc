import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { GIVE_UP_DAYS, OLD_SECRET_HOURS, RESPONSE_TIMEOUT_SECONDS } from '../../src/core/webhooks/webhook.ts'
import { MAX_KEPT_ATTEMPTS } from '../../src/core/webhooks/webhook-store.ts'

const ROOT = join(import.meta.dir, '../../..')

/** All numbers that a text has before one of these words. */
function numbersBefore(text: string, words: string): Set<number> {
  const matches = text.matchAll(new RegExp(`([\\d,]+) (?:${words})\\b`, 'g'))
  return new Set(Array.from(matches, ([, number = '']) => Number(number.replaceAll(',', ''))))
}

test.each([
  'docs/webhooks.md',
  'docs/troubleshooting.md',
  'docs/decisions/2026-11-16-webhooks.md',
  'deploy/prometheus/petstore.rules.yml',
  'web/src/docs-page/guides/webhooks.md',
  'web/src/staff-page/data/webhooks/webhook-words.ts',
  'web/src/staff-page/webhooks/webhook-card.tsx',
])('%s states the limits of webhooks as they are defined', async (file) => {
  const text = await Bun.file(join(ROOT, file)).text()
  for (const [words, defined] of [
    ['days', GIVE_UP_DAYS],
    ['hours, (?:every delivery|deliveries)', OLD_SECRET_HOURS],
    ['seconds \\| The delivery', RESPONSE_TIMEOUT_SECONDS],
    ['attempts', MAX_KEPT_ATTEMPTS],
  ] as const) {
    expect([...numbersBefore(text, words)].filter((number) => number !== defined)).toEqual([])
  }
})
