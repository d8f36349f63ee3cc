import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'

interface Violation {
  readonly id: string
  readonly impact: string
  readonly help: string
  readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary: string }[]
}

const SOURCE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** The rules that colours decide; a page in dark differs from one in light by nothing else. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block']

/** What leaves somebody out; lesser findings are advice. */
const check = (options: object) => `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
  violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, impact, help, nodes }) => ({
      id, impact, help,
      nodes: nodes.map(({ target, failureSummary }) => ({ target, failureSummary })),
    })))`

/**
 * Throws where axe-core finds anything serious or critical on the page as it is now. The debugger evaluates the
 * source, since the Content-Security-Policy of the page allows no script of others.
 */
export async function axe(page: Page, rules?: readonly string[]): Promise<void> {
  const debug = await page.context().newCDPSession(page)
  try {
    await page.evaluate(settled)
    const { result: presence } = await debug.send('Runtime.evaluate', { expression: 'typeof axe' })
    if (presence.value === 'undefined') await debug.send('Runtime.evaluate', { expression: SOURCE })
    const { result, exceptionDetails } = await debug.send('Runtime.evaluate', {
      expression: check({ resultTypes: ['violations'], ...(rules && { runOnly: rules }) }),
      awaitPromise: true,
      returnByValue: true,
    })
    if (exceptionDetails !== undefined) {
      throw new Error(`axe-core failed: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`)
    }
    const violations = result.value as readonly Violation[]
    if (violations.length > 0)
      throw new Error(`axe-core finds on ${page.url()}:\n${violations.map(told).join('\n')}`)
  } finally {
    await debug.detach()
  }
}

/** The same for a page in light, and for its colours in dark. */
export async function axeInBothThemes(page: Page): Promise<void> {
  await axe(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  await axe(page, COLOUR_RULES)
  await page.emulateMedia({ colorScheme: 'light' })
}

/** Runs in the page. A colour on its way from one to another would be taken for one of low contrast. */
async function settled(): Promise<void> {
  const ending = document
    .getAnimations()
    .filter(({ effect }) => effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY)
  await Promise.allSettled(ending.map(({ finished }) => finished))
}

function told({ id, impact, help, nodes }: Violation): string {
  const places = nodes.map(
    ({ target, failureSummary }) => `    ${target.join(' ')}: ${failureSummary.replaceAll(/\s+/g, ' ')}`,
  )
  return [`  ${impact} ${id}: ${help}`, ...places].join('\n')
}
