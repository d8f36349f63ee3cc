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
import { askForBarcode } from '../data/stock/stock-search.ts'
import { useMayChange, useSession, useStock } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { Combobox, type Option } from '../ui/combobox.tsx'
import { isTyping } from '../ui/hooks.ts'
import { petNamed, scannedIn, searchPets, usePetsLike } from './find-pets.ts'
import { addPetWithBarcode } from './scan-layer.tsx'
import { useScan } from './scanner.ts'
import './work.css'

export interface PetFinderHandle {
  readonly focus: () => void
  /** Finds a pet as if the text had been typed and Enter pressed. */
  readonly find: (text: string) => void
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
  const { stock, saving } = session
  const { hasNames, connection } = useStock()
  const mayAddPets = useMayChange('pets')
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
    type('')
    onPick(petId)
  }
  const add = async (barcode: string) => {
    const petId = await addPetWithBarcode(barcode)
    if (petId !== undefined) pick(petId)
  }
  const findBarcode = async (barcode: string) => {
    setText('')
    const known = petNamed(stock, barcode)?.petId
    if (known !== undefined) return pick(known)
    try {
      const canAsk = connection !== 'lost' || !hasNames
      const answer = canAsk ? await askForBarcode(saving, barcode) : undefined
      // The digits may be the id of a pet that the page did not hold.
      const petId = answer ?? petNamed(stock, barcode)?.petId
      if (petId !== undefined) return pick(petId)
      const action = mayAddPets && (
        <Button size="small" onClick={() => void add(barcode)}>
          Add a pet with this barcode
        </Button>
      )
      report(`No pet has the barcode ${barcode}.`, action)
    } catch (error) {
      if (!saving.signal.aborted) report(`${barcode} was not looked up. ${failureWords(error)}`)
    }
  }
  const find = async (wanted: string) => {
    const named = petNamed(stock, wanted)
    const scanned = scannedIn(stock, wanted)
    if (named !== undefined) return pick(named.petId)
    if (scanned !== undefined) return void findBarcode(scanned.barcode)
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
  useScan((barcode) => void findBarcode(barcode))
  useImperativeHandle(ref, () => ({ focus, find: (wanted) => void find(wanted) }))

  const options = usePetsLike(text, MAX_OPTIONS).map(({ petId, name, quantity, reserved }): PetOption => {
    const content = (
      <>
        <span className="finder__name">{name ?? `Pet ${petId}`}</span>
        <span className="muted number">#{String(petId)}</span>
        {!hidesStock && (
          <span className="muted number">{Math.max(0, quantity - reserved).toLocaleString('en')} free</span>
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
      <p className={message?.isProblem ? 'negative small cluster' : 'muted small cluster'} role="status">
        {message?.text ?? hint}
        {message?.action}
      </p>
    </>
  )
}

/** Text that is typed while no field has the focus goes into the field that `focus` focuses. */
function useTypingInto(focus: () => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, target } = event
      if (key.length !== 1 || key === ' ' || ctrlKey || metaKey || altKey || isTyping(target)) return
      if (document.querySelector('dialog:modal') !== null) return
      // The browser types the key after this, into the new focus. The search key is not part of the text.
      if (key === '/') event.preventDefault()
      focus()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [focus])
}
