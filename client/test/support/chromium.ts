import { missingPackage } from '../../../wire/test/debian-package.ts'

const CHROMIUM = '/usr/bin/chromium'
const HEADLESS_SHELL = 'chromium-headless-shell'

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

/**
 * The same engine without a browser's windows, which need more of the machine than the pages in them. Where it cannot
 * be installed, Chromium itself.
 */
export async function headlessShellPath(): Promise<string> {
  const missing = await missingPackage(HEADLESS_SHELL)
  return missing === undefined ? `/usr/bin/${HEADLESS_SHELL}` : chromiumPath()
}
