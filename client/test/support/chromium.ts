import { existsSync } from 'node:fs'
import { run } from './built-client.ts'

const CHROMIUM = '/usr/bin/chromium'

export const CHROMIUM_FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync'],
]

/** Debian's Chromium, which is installed where it is missing and that can be done. */
export async function chromiumPath(): Promise<string> {
  if (existsSync(CHROMIUM)) return CHROMIUM
  if (process.getuid?.() !== 0 || Bun.which('apt-get') === null) throw missing('')
  const aptGet = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '--quiet', '--yes']
  await run([...aptGet, 'update'])
  const { exitCode, stderr } = await run([...aptGet, 'install', '--no-install-recommends', 'chromium'])
  if (exitCode !== 0 || !existsSync(CHROMIUM)) throw missing(`\n${stderr}`)
  return CHROMIUM
}

function missing(detail: string): Error {
  return new Error(`this test needs ${CHROMIUM}: install it with "apt-get install chromium" as root${detail}`)
}
