import { type ComponentChild, options } from 'preact'
import { render } from 'preact/compat'

/**
 * Renders a page. Effects run right after each render instead of after the next frame, so that a key that follows at
 * once, as from a scanner, finds the focus and the listeners of the new state.
 */
export function renderPage(page: ComponentChild): void {
  options.requestAnimationFrame = queueMicrotask
  const place = document.getElementById('page')
  if (place === null) throw new Error('index.html has no element with the id "page"')
  render(page, place)
}
