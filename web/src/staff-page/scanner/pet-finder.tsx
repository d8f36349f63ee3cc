import {
  type ReactNode,
  type Ref,
  useCallback,
  useEffect,
  useImperativeHandle,
  useRef,
  useState,
} from 'preact/compat'
import { Icon } from '../../design/icon.tsx'
import { failureWords } from '../data/failure-words.ts'
import { freeUnits, isSoldOut } from '../data/stock/free-units.ts'
import { useSession, useStock } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { Combobox, type Option } from '../ui/combobox.tsx'
import { isTyping } from '../ui/hooks.ts'
import { useScan } from '../ui/scanner.ts'
import { petNamed, scannedIn, searchPets, usePetsLike } from './find-pets.ts'
import { findScanned } from './scan-layer.tsx'
import './work.css'

export interface PetFinderHandle {
  readonly focus: () => void
  /** Picks the pet with a barcode that was scanned. */
  readonly findBarcode: (barcode: string) => void
}

export interface FinderMessage {
  readonly text: string
  readonly isProblem: boolean
  readonly action?: ReactNode
}

interface Props {
  readonly ref: Ref<PetFinderHandle>
  readonly label: string
  readonly hint: string
  /** Shown instead of the hint. */
  readonly message: FinderMessage | undefined
  readonly onMessage: (message: FinderMessage | undefined) => void
  readonly onPick: (petId: bigint) => void
  /** Shows no stock beside the pets, such as in a blind count. */
  readonly hidesStock?: boolean
}

interface PetOption extends Option {
  readonly petId: bigint
}

const MAX_OPTIONS = 8

/** Finds a pet by a scan, a barcode, its name or its id. Enter picks the first match. Has the focus of its view. */
export function PetFinder({ ref, label, hint, message, onMessage, onPick, hidesStock = false }: Props) {
  const session = useSession()
  const { stock } = session
  const { hasNames } = useStock()
  const [text, setText] = useState('')
  const field = useRef<HTMLInputElement>(null)
  /** Counts the user's inputs, so that a late answer to an earlier input is dropped. */
  const steps = useRef(0)
  const focus = useCallback(() => field.current?.focus(), [])
  useTypingInto(focus)
  useEffect(() => {
    // On a touch screen the keyboard would cover half of the view.
    if (matchMedia('(pointer: fine)').matches) focus()
  }, [focus])

  const report = (problem: string, action?: ReactNode) => {
    onMessage({ text: problem, isProblem: true, action })
  }
  const type = (typed: string) => {
    steps.current++
    setText(typed)
    onMessage(undefined)
  }
  const pick = (petId: bigint) => {
    const focused = document.activeElement
    // Another field saves the amount that was typed without Enter.
    if (focused instanceof HTMLElement && focused !== field.current) focused.blur()
    type('')
    onPick(petId)
  }
  const findBarcode = (barcode: string) => {
    type('')
    void findScanned(session, barcode, pick, (problem, action) => {
      report(problem, action && <Button onClick={action.run}>{action.label}</Button>)
    })
  }
  const find = async (wanted: string) => {
    const named = petNamed(stock, wanted)
    const scanned = scannedIn(stock, wanted)
    if (named !== undefined) return pick(named.petId)
    if (scanned !== undefined) return findBarcode(scanned.barcode)
    const step = ++steps.current
    try {
      const [match] = await searchPets(session, wanted, MAX_OPTIONS)
      if (step !== steps.current) return
      if (match !== undefined) return pick(match.petId)
      report(`No pet matches “${wanted.trim()}”. Try a part of its name, or its id.`)
    } catch (error) {
      if (step !== steps.current) return
      report(`“${wanted.trim()}” was not looked up. ${failureWords(error)}`)
    }
    // The next word replaces it.
    field.current?.select()
  }
  useScan(findBarcode)
  useImperativeHandle(ref, () => ({ focus, findBarcode }))

  const options = usePetsLike(text, MAX_OPTIONS).map(({ petId, name, quantity, reserved }): PetOption => {
    const content = (
      <>
        <span className="finder__name">{name ?? `Pet ${petId}`}</span>
        <span className="muted number">#{String(petId)}</span>
        {!hidesStock && (
          <span className={isSoldOut({ quantity, reserved }) ? 'negative' : 'muted number'}>
            {isSoldOut({ quantity, reserved })
              ? 'sold out'
              : `${freeUnits({ quantity, reserved }).toLocaleString('en')} free`}
          </span>
        )}
      </>
    )
    return { key: String(petId), petId, content }
  })
  return (
    <>
      <Combobox
        label={label}
        noun="pets"
        text={text}
        onType={type}
        options={options}
        onPick={({ petId }) => pick(petId)}
        onEnter={(typed) => {
          if (typed.trim() !== '') void find(typed)
        }}
        placeholder={hasNames ? 'Barcode, name or id' : 'Names and barcodes are loading'}
        field={field}
        icon={<Icon name="search" />}
      />
      {message?.isProblem && (
        <p className="notice notice--negative" role="alert">
          <strong>{message.text}</strong>
          {message.action}
        </p>
      )}
      <p className="muted small cluster" role="status">
        {message?.isProblem ? hint : (message?.text ?? hint)}
      </p>
    </>
  )
}

/** Text that is typed outside of a field, and letters in a field for a number, go into the field that `focus` focuses. */
function useTypingInto(focus: () => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, target } = event
      if (key.length !== 1 || key === ' ' || ctrlKey || metaKey || altKey) return
      if (isTyping(target) && !(isNumberField(target) && /\p{L}/u.test(key))) return
      if (document.querySelector('dialog:modal') !== null) return
      // The browser types the key after this, into the new focus. The search key is not part of the text.
      if (key === '/') event.preventDefault()
      focus()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [focus])
}

function isNumberField(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement && target.inputMode === 'numeric'
}
