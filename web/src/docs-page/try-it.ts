import { keepDocsKey, shareStaffKeyWithDocs, storedDocsKey, storedKey } from '../shared/key-storage.ts'
import { indentJson } from './indent-json.ts'

/** The page would be slow with more. */
const MAX_CHARACTERS = 100_000

/** The request of each form that waits for its response. */
const pending = new WeakMap<HTMLFormElement, AbortController>()

/** Handles the forms that web/docs/try-it.ts writes. */
export function prepareTryIt(): void {
  showKey()
  addEventListener('storage', showKey)
  addEventListener('pageshow', showKey)
  document.addEventListener('input', ({ target }) => {
    if (!(target instanceof HTMLInputElement && target.name === 'key')) return
    keepDocsKey(target.value.trim())
    showKey()
  })
  document.addEventListener('click', ({ target }) => {
    if (!(target instanceof HTMLButtonElement)) return
    if (target.name === 'stop' && target.form !== null) pending.get(target.form)?.abort()
    if (target.name !== 'staff-key') return
    shareStaffKeyWithDocs()
    showKey()
  })
  document.addEventListener('submit', (event) => {
    event.preventDefault()
    if (event.target instanceof HTMLFormElement) void send(event.target)
  })
}

/** All forms use one key. The key of the staff page is used only after a click. */
function showKey(): void {
  const key = storedDocsKey()
  const staffKey = storedKey()
  for (const field of document.querySelectorAll<HTMLInputElement>('input[name=key]'))
    if (field.value.trim() !== key) field.value = key
  for (const button of document.querySelectorAll<HTMLButtonElement>('button[name=staff-key]'))
    button.hidden = staffKey === undefined || staffKey === key
}

/** Sends once, without the retries of the client: the reader wants to see the response itself. */
async function send(form: HTMLFormElement): Promise<void> {
  const submit = elementIn<HTMLButtonElement>(form, 'button[type=submit]')
  const stop = elementIn<HTMLButtonElement>(form, 'button[name=stop]')
  const controller = new AbortController()
  pending.set(form, controller)
  submit.disabled = true
  stop.hidden = false
  showOutcome(form, 'Waiting for the response')
  let waitSeconds = 0
  try {
    waitSeconds = await exchange(form, controller.signal)
  } catch (error) {
    const problem = `No response: ${error instanceof Error ? error.message : error}`
    showOutcome(form, controller.signal.aborted ? 'Stopped' : problem)
  }
  stop.hidden = true
  // Sending before Retry-After has passed may lead to a ban of the key.
  setTimeout(() => {
    submit.disabled = false
  }, waitSeconds * 1_000)
}

/** Returns for how long nothing may be sent. */
async function exchange(form: HTMLFormElement, signal: AbortSignal): Promise<number> {
  const startedAt = performance.now()
  // Without no-store, the browser would answer from its cache and hide a 304.
  const response = await fetch(requestOf(form), { cache: 'no-store', signal })
  const status = `${response.status} ${response.statusText}`
  const type = response.headers.get('Content-Type') ?? ''
  elementIn(form, '[data-part=answer]').hidden = false
  showText(form, 'headers', [...response.headers].map((header) => header.join(': ')).join('\n'))
  if (type.startsWith('text/event-stream')) {
    showOutcome(form, `${status} · open`)
    await showStream(form, response)
    showOutcome(form, `${status} · ended by the service`)
    return 0
  }
  const text = await response.text()
  const milliseconds = Math.round(performance.now() - startedAt)
  const waitSeconds = Number(response.headers.get('Retry-After') ?? 0)
  const wait = waitSeconds > 0 ? ` · you can send again in ${waitSeconds} s` : ''
  const code = response.ok ? undefined : /"code":\s*"(\w+)"/.exec(text)?.[1]
  showOutcome(form, `${status} · ${milliseconds} ms${wait}`, code)
  showText(form, 'body', type.startsWith('application/json') ? indentJson(text) : text)
  return waitSeconds
}

/** Takes what the reader has typed, character by character, so that ids beyond 2^53 are exact. */
function requestOf(form: HTMLFormElement): Request {
  const key = storedDocsKey()
  const headers = new Headers(key === '' ? {} : { Authorization: `Bearer ${key}` })
  const query = new URLSearchParams()
  let path = form.dataset.path ?? ''
  for (const { value: typed, name, dataset } of form.querySelectorAll<HTMLInputElement | HTMLSelectElement>(
    '[data-place]',
  )) {
    const value = typed.trim()
    if (dataset.place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value))
    else if (value !== '' && dataset.place === 'query') query.append(name, value)
    else if (value !== '') headers.append(name, value)
  }
  const field = form.querySelector('textarea')
  if (field !== null) headers.set('Content-Type', field.dataset.type ?? '')
  const search = query.size === 0 ? '' : `?${query}`
  return new Request(`/v1${path}${search}`, {
    method: form.dataset.method ?? 'GET',
    headers,
    body: field?.value ?? null,
  })
}

/** Shows the newest events. */
async function showStream(form: HTMLFormElement, response: Response): Promise<void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const { value, done = true } = (await reader?.read()) ?? {}
    if (done) return
    text = (text + value).slice(-MAX_CHARACTERS)
    showText(form, 'body', text)
  }
}

function showOutcome(form: HTMLFormElement, text: string, errorCode?: string): void {
  const outcome = elementIn(form, '[role=status]')
  outcome.textContent = text
  if (errorCode === undefined) return
  const link = document.createElement('a')
  link.href = `/docs/guides/errors#${errorCode}`
  link.textContent = errorCode
  outcome.append(' · ', link)
}

function showText(form: HTMLFormElement, part: 'headers' | 'body', text: string): void {
  const note = `\n… ${text.length - MAX_CHARACTERS} more characters`
  const shown = text.length > MAX_CHARACTERS ? text.slice(0, MAX_CHARACTERS) + note : text
  elementIn(form, `[data-part=${part}]`).textContent = shown
}

function elementIn<Kind extends HTMLElement = HTMLElement>(form: HTMLFormElement, selector: string): Kind {
  const element = form.querySelector<Kind>(selector)
  if (element === null) throw new Error(`the form has no ${selector}`)
  return element
}
