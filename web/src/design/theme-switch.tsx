import { useState } from 'preact/compat'
import { Icon } from './icon.tsx'
import { chooseTheme, chosenTheme, THEMES } from './theme.ts'

const NAMES = { system: 'System', light: 'Light', dark: 'Dark' } as const

/** Cycles through the three themes. The label names the current one. */
export function ThemeSwitch() {
  const [theme, setTheme] = useState(chosenTheme)
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system'
  const label = `Theme: ${NAMES[theme]}. Change to ${NAMES[next]}.`
  const change = () => {
    chooseTheme(next)
    setTheme(next)
  }
  return (
    <button
      type="button"
      className="button button--quiet button--icon"
      aria-label={label}
      title={label}
      onClick={change}
    >
      <Icon name={theme} />
    </button>
  )
}
