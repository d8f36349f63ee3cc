import { useEffect, useRef } from 'react'

/** What is known of a key when it goes down; a `KeyboardEvent` has all of it. */
export interface PressedKey {
  readonly key: string
  /** When it went down, in milliseconds: as the system tells it, so that a busy page does not change it. */
  readonly timeStamp: number
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly altKey: boolean
  /** It is held down. */
  readonly repeat: boolean
}

/** Slow scanners need half of it for a character; hands that type several keys need twice as much. */
const MAX_GAP_MS = 50
/** On a busy machine one character of a code may come as late as this, where the whole is still as fast as a scanner. */
const MAX_LATE_MS = 150
/** The shortest codes on goods, UPC-E without its check digit and its first one, have as many. */
const MIN_LENGTH = 6
/** What the service takes for a part of a barcode. */
const CHARACTER = /^[!-~]$/

/**
 * Tells a barcode scanner from hands. To the browser it is a keyboard: one that types a whole code faster than anybody
 * could, and ends it with Enter.
 */
export class ScanReader {
  #run = ''
  #began = Number.NEGATIVE_INFINITY
  #last = Number.NEGATIVE_INFINITY
  /** Whether one of the run came late. */
  #isLate = false

  /** What may be a scan so far. Of one character nobody can tell yet. */
  get run(): string {
    return this.#run
  }

  /** Takes the next key. Gives the code where this Enter ends one; every other key is what it always is. */
  take({ key, timeStamp, ctrlKey, metaKey, altKey, repeat }: PressedKey): string | undefined {
    // It goes down before a capital letter, and is no part of it.
    if (key === 'Shift') return undefined
    const gap = timeStamp - this.#last
    this.#last = timeStamp
    const before = this.#run
    const isCharacter = CHARACTER.test(key) && !ctrlKey && !metaKey && !altKey && !repeat
    if (!isCharacter) {
      this.#run = ''
      // Hands that rush through some digits still need their time to get to Enter, so that is never late.
      const isQuick = gap <= MAX_GAP_MS && timeStamp - this.#began <= MAX_GAP_MS * before.length
      // A word without a digit is none of a code, however fast somebody's fingers are.
      return key === 'Enter' && isQuick && before.length >= MIN_LENGTH && /\d/.test(before)
        ? before
        : undefined
    }
    const isLate = gap > MAX_GAP_MS
    const goesOn = before !== '' && (!isLate || (!this.#isLate && gap <= MAX_LATE_MS))
    if (!goesOn) this.#began = timeStamp
    this.#isLate = goesOn && (this.#isLate || isLate)
    this.#run = goesOn ? before + key : key
    return undefined
  }
}

/** Marks a field that wants what is scanned as its text, such as the number of a delivery note. */
export const TAKES_SCANS = { 'data-takes-scans': true }

/**
 * Hears every scan, wherever the focus is. What the scanner typed into a field is taken out of it again, and its Enter
 * does nothing there.
 */
export function useScanner(onScan: (code: string) => void): void {
  const told = useRef(onScan)
  told.current = onScan
  useEffect(() => {
    const reader = new ScanReader()
    let undoTyping = () => {}
    const onKeyDown = (event: KeyboardEvent) => {
      const code = reader.take(event)
      if (reader.run.length === 1) undoTyping = typingUndone(event.target)
      if (code === undefined) return
      event.preventDefault()
      event.stopPropagation()
      if (event.target instanceof HTMLElement && event.target.matches('[data-takes-scans]')) return
      undoTyping()
      told.current(code)
    }
    addEventListener('keydown', onKeyDown, { capture: true })
    return () => removeEventListener('keydown', onKeyDown, { capture: true })
  }, [])
}

/** Gives what takes out again whatever is typed from now on, as if the user did. */
function typingUndone(target: EventTarget | null): () => void {
  const before = target instanceof HTMLInputElement ? target.value : ''
  return () => {
    const field = document.activeElement
    if (!(field instanceof HTMLInputElement)) return
    // A field that the first characters opened, as in a table, holds nothing else.
    const value = field === target ? before : ''
    if (field.value === value) return
    // Past React, which takes a value that it set itself for no change.
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(field, value)
    field.dispatchEvent(new Event('input', { bubbles: true }))
  }
}
