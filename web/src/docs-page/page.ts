import { applyTheme, chooseTheme, chosenTheme, THEMES } from '../design/theme.ts'
import { copyText } from '../shared/copy-text.ts'
import { prepareTryIt } from './try-it.ts'

const SAMPLE_ORIGIN = 'http://127.0.0.1:8080'
const SAMPLE_LANGUAGE = 'docs-sample'
const SHOW_COPIED_MS = 1_600

// The script blocks rendering, so that the page never appears in another theme than the chosen one.
applyTheme()
document.addEventListener('DOMContentLoaded', () => {
  followOldAddress()
  prepareTheme()
  prepareSamples()
  prepareTryIt()
})
addEventListener('hashchange', () => {
  followOldAddress()
  // A link to a part of the page does not close the menu of a small screen.
  document.querySelector<HTMLElement>('#side:popover-open')?.hidePopover()
})

/** Earlier versions had one page with addresses such as `/docs#/operations/createOrder`. */
function followOldAddress(): void {
  const [, folder, id = ''] = /^#\/(guides|operations|schemas)\/([\w-]+)/.exec(location.hash) ?? []
  if (folder === undefined) return
  const operation = document.querySelector<HTMLAnchorElement>(`main a[href$="#${id}"]`)
  if (folder === 'guides') location.replace(`/docs/guides/${id}`)
  else if (folder === 'schemas') location.replace(`/docs/records#${id}`)
  else if (operation !== null) location.replace(operation.href)
}

function prepareTheme(): void {
  const button = document.querySelector<HTMLButtonElement>('button[name=theme]')
  if (button === null) return
  const showTheme = () => {
    button.textContent = `Theme: ${chosenTheme()}`
  }
  button.addEventListener('click', () => {
    chooseTheme(THEMES[(THEMES.indexOf(chosenTheme()) + 1) % THEMES.length] ?? 'system')
    showTheme()
  })
  showTheme()
}

/** Samples have the address of this service and a button that copies them. The chosen language applies to all. */
function prepareSamples(): void {
  for (const code of document.querySelectorAll('.code')) {
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT)
    while (texts.nextNode()) {
      const text = texts.currentNode as Text
      if (text.data.includes(SAMPLE_ORIGIN)) text.data = text.data.replaceAll(SAMPLE_ORIGIN, location.origin)
    }
    code.querySelector('.code__head')?.append(createCopyButton(code))
  }
  chooseLanguage(sessionStorage.getItem(SAMPLE_LANGUAGE) ?? '')
  document.addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLInputElement && target.name.endsWith('-sample'))) return
    sessionStorage.setItem(SAMPLE_LANGUAGE, target.value)
    chooseLanguage(target.value)
  })
}

function chooseLanguage(language: string): void {
  const choices = document.querySelectorAll<HTMLInputElement>(`.code input[value="${CSS.escape(language)}"]`)
  for (const choice of choices) choice.checked = true
}

function createCopyButton(code: Element): HTMLButtonElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'button button--quiet button--small'
  button.textContent = 'Copy'
  const show = (outcome: string) => {
    button.textContent = outcome
    setTimeout(() => {
      button.textContent = 'Copy'
    }, SHOW_COPIED_MS)
  }
  button.addEventListener('click', () => {
    const shown = [...code.querySelectorAll('pre')].find((pre) => pre.checkVisibility())
    copyText(shown?.textContent ?? '').then(
      () => show('Copied'),
      () => show('Not allowed here'),
    )
  })
  return button
}
