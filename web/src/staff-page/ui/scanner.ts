import { flushSync, useEffect, useLayoutEffect, useRef } from 'preact/compat'
import { isAsking } from './confirm.tsx'

/** `timeStamp` is the system's time of the key press, which a busy page does not change. */
type PressedKey = Pick<KeyboardEvent, 'key' | 'timeStamp' | 'ctrlKey' | 'metaKey' | 'altKey' | 'repeat'>

/** Slow scanners need half of this for a character; people who type several keys need twice as much. */
const MAX_GAP_MS = 50
/** On a busy machine one character may be this late, if the whole code is still as fast as a scanner. */
const MAX_LATE_MS = 150
/** A wireless scanner may pause once for this long. Hands have not typed the characters before: they were too fast. */
const MAX_PAUSE_MS = 500
/** The length of the shortest codes on goods: UPC-E without its first and its check digit. */
const MIN_LENGTH = 6
/** The characters that the service accepts in a barcode. */
const CHARACTER = /^[!-~]$/

/**
 * Distinguishes a barcode scanner from a person. To the browser a scanner is a keyboard that types a whole code faster
 * than a person could, and then Enter.
 */
export class ScanReader {
  #run = ''
  #startedAt = Number.NEGATIVE_INFINITY
  #lastAt = Number.NEGATIVE_INFINITY
  #hasLateKey = false

  /** The characters that may become a scan. */
  get run(): string {
    return this.#run
  }

  /** Returns the code if this key is the Enter that ends a scan. */
  take({ key, timeStamp, ctrlKey, metaKey, altKey, repeat }: PressedKey): string | undefined {
    // Shift goes down before a capital letter.
    if (key === 'Shift') return undefined
    const gap = timeStamp - this.#lastAt
    this.#lastAt = timeStamp
    const run = this.#run
    const isCharacter = CHARACTER.test(key) && !ctrlKey && !metaKey && !altKey && !repeat
    if (!isCharacter) {
      this.#run = ''
      // A person who types digits fast still needs a moment to reach Enter, so Enter is never late.
      const isQuick = gap <= MAX_GAP_MS && timeStamp - this.#startedAt <= MAX_GAP_MS * run.length
      // A word without a digit is not a code, however fast it was typed.
      const isScan = key === 'Enter' && isQuick && run.length >= MIN_LENGTH && /\d/.test(run)
      return isScan ? run : undefined
    }
    const isLate = gap > MAX_GAP_MS
    const isFast = run.length > 1 && !this.#hasLateKey
    const maxGap = isFast ? MAX_PAUSE_MS : MAX_LATE_MS
    const continues = run !== '' && (!isLate || (!this.#hasLateKey && gap <= maxGap))
    if (!continues) this.#startedAt = timeStamp
    else if (isLate && isFast) this.#startedAt += gap
    this.#hasLateKey = continues && (this.#hasLateKey || isLate)
    this.#run = continues ? run + key : key
    return undefined
  }
}

type ScanHandler = (barcode: string) => void

interface Registration {
  readonly place: 'view' | 'dialog'
  readonly handle: ScanHandler
}

const registrations: Registration[] = []

/**
 * Handles every scan while the component is mounted, wherever the focus is. The handler that was mounted last wins.
 * While a modal dialog is open, only handlers with the place `dialog` are called.
 */
export function useScan(handler: ScanHandler, place: Registration['place'] = 'view'): void {
  const latest = useRef(handler)
  latest.current = handler
  // Layout effects of a parent always run after those of its children, so the handler of the view wins.
  useLayoutEffect(() => {
    const registration = { place, handle: (barcode: string) => latest.current(barcode) }
    registrations.push(registration)
    return () => {
      registrations.splice(registrations.indexOf(registration), 1)
    }
  }, [place])
}

/**
 * Reads the scanner for the whole page. The characters of a scan are removed from the field again, and neither they nor
 * Enter reach a form, a button or a shortcut. `fallback` handles scans that no view handles.
 */
export function useScannerKeys(fallback: ScanHandler): void {
  const latest = useRef(fallback)
  latest.current = fallback
  useEffect(() => {
    const reader = new ScanReader()
    let removeTyped = () => {}
    const onKeyDown = (event: KeyboardEvent) => {
      const barcode = reader.take(event)
      if (reader.run.length === 1) removeTyped = typedTextRemover(event.target)
      // So fast, it is no shortcut. The browser still types it, in case it is no scan.
      if (reader.run.length > 1) event.stopPropagation()
      if (barcode === undefined) return
      event.preventDefault()
      event.stopPropagation()
      removeTyped()
      dispatchScan(barcode, latest.current)
    }
    addEventListener('keydown', onKeyDown, { capture: true })
    return () => removeEventListener('keydown', onKeyDown, { capture: true })
  }, [])
}

function dispatchScan(barcode: string, fallback: ScanHandler): void {
  // A question waits for its answer, and a dialog without a handler has no use for a pet.
  if (isAsking()) return
  const isModal = document.querySelector('dialog:modal') !== null
  const place = isModal ? 'dialog' : 'view'
  const registration = registrations.findLast((each) => each.place === place)
  if (registration !== undefined) registration.handle(barcode)
  else if (!isModal) fallback(barcode)
}

type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

/** Returns a function that removes all text that is typed from now on, as if the user did. */
function typedTextRemover(target: EventTarget | null): () => void {
  const textBefore = isControl(target) ? target.value : ''
  const field =
    target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement ? target : undefined
  const { selectionStart = null, selectionEnd = null } = field ?? {}
  return () => {
    const focused = document.activeElement
    if (isControl(target)) setValue(target, textBefore)
    // The next digit still replaces an amount that was selected.
    if (selectionStart !== null) field?.setSelectionRange(selectionStart, selectionEnd)
    // A field that the first character opened, as in a table, contains nothing but the scan.
    if (isControl(focused) && focused !== target) setValue(focused, '')
  }
}

function isControl(target: EventTarget | null): target is Control {
  return (
    (target instanceof HTMLInputElement && target.type !== 'file') ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement
  )
}

function setValue(control: Control, value: string): void {
  if (control.value === value) return
  control.value = value
  const type = control instanceof HTMLSelectElement ? 'change' : 'input'
  // Renders at once, so that the handler of the scan sees the restored value.
  flushSync(() => control.dispatchEvent(new Event(type, { bubbles: true })))
}
