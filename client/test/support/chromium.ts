import { missingPackage } from '../../../wire/test/debian-package.ts'

const CHROMIUM = '/usr/bin/chromium'

export const CHROMIUM_FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync'],
]

/** Debian's Chromium, which is installed where it is missing and that can be done. */
export async function chromiumPath(): Promise<string> {
  const missing = await missingPackage('chromium')
  if (missing !== undefined) throw new Error(`this test needs Chromium: ${missing}`)
  return CHROMIUM
}
