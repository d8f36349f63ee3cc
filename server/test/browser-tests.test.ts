import { expect, test } from 'bun:test'
import { fileURLToPath } from 'node:url'
import { browserTests, skippedTestsMessage } from '../scripts/browser-tests.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

test('the tests that need Chromium are listed: those of the pages and of the client in a browser, and no others', async () => {
  const files = await browserTests(ROOT)
  expect(files).toContain('client/test/installed-client.test.ts')
  expect(files).toContain('web/test/browser/stock-table.test.ts')
  expect(files).not.toContain('web/test/unit/build.test.ts')
  for (const path of files) expect(await Bun.file(ROOT + path).text()).toMatch(/useShop|chromiumPath/)
})

test('without Chromium one line names the skipped tests, and CI fails', () => {
  const missing = 'chromium is not installed: apt-get install chromium\nE: Unable to locate package'
  expect(skippedTestsMessage(['a', 'b'], missing, false)).toBe(
    'SKIPPED: chromium is not installed: apt-get install chromium; without it the 2 test files of the pages and of the client in a browser do not run',
  )
  expect(() => skippedTestsMessage(['a'], missing, true)).toThrow('cannot run, and CI must run them')
})
