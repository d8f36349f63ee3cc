/** `system` follows the operating system. Both pages share the choice, which is kept in this browser. */
export type Theme = 'system' | 'light' | 'dark'

export const THEMES: readonly Theme[] = ['system', 'light', 'dark']

const STORED_AS = 'petstore.theme'

export function chosenTheme(): Theme {
  const stored = localStorage.getItem(STORED_AS)
  return THEMES.find((theme) => theme === stored) ?? 'system'
}

export function chooseTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(STORED_AS)
  else localStorage.setItem(STORED_AS, theme)
  applyTheme()
}

/** Call it once before the page is rendered. */
export function applyTheme(): void {
  const theme = chosenTheme()
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}
