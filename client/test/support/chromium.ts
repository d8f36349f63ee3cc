import { missingPackage } from '../../../wire/test/debian-package.ts'

const CHROMIUM = '/usr/bin/chromium'
const HEADLESS_SHELL = 'chromium-headless-shell'

export const CHROMIUM_FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Debian's Chromium; installs it if it is missing. */
export async function chromiumPath(): Promise<string> {
  const missing = await missingPackage('chromium')
  if (missing !== undefined) throw new Error(`this test needs Chromium: ${missing}`)
  return CHROMIUM
}

/** The headless shell, which needs fewer resources than Chromium; Chromium if it cannot be installed. */
export async function headlessShellPath(): Promise<string> {
  const missing = await missingPackage(HEADLESS_SHELL)
  return missing === undefined ? `/usr/bin/${HEADLESS_SHELL}` : chromiumPath()
}
