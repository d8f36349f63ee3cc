import type { Page } from 'playwright-core'

export const PHONE = { width: 390, height: 844 }

/** Changes the size of the window. Resolves once the page has been drawn for the new size. */
export async function resize(page: Page, size: { width: number; height: number }): Promise<void> {
  await page.setViewportSize(size)
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
}

/** Throws if something has to be scrolled sideways, and names it. */
export async function fits(page: Page): Promise<void> {
  const wide = await page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll('main, .card, dialog')]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
      .map(({ className, tagName }) => `${tagName} ${className}`),
  )
  if (wide.length > 0) throw new Error(`too wide on ${page.url()}: ${wide.join(', ')}`)
}

/** The name of the element with the focus; empty if the focus fell back to the page. */
export function focused(page: Page): Promise<string | null> {
  return page.evaluate(() => {
    const element = document.activeElement
    if (element === null || element === document.body) return ''
    const label = element instanceof HTMLInputElement ? element.labels?.[0]?.innerText : undefined
    return label ?? element.getAttribute('aria-label') ?? element.textContent
  })
}
