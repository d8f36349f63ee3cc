import type { Adjustment, AdjustmentLine, ReversalReason, ReversedLine } from '@petstore/client'
import { useEffect, useRef, useState } from 'preact/compat'
import { failureWords } from '../data/failure-words.ts'
import { useReadable } from '../data/observable.ts'
import { whyWords } from '../data/reason-words.ts'
import { reverseAdjustment } from '../data/stock/reversal.ts'
import { momentWords } from '../data/time-words.ts'
import { showToast } from '../data/toasts.ts'
import { readQuantity } from '../quantity/typed-change.ts'
import { useMayChange, useSession, useStock } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { QuantityChange } from '../ui/changes.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { href } from '../ui/navigation.ts'
import { petsWords, piecesWords } from '../ui/words.ts'
import { EFFECT_WORDS, reversedWords, reversibleUnits, sizeWords } from './adjustment-words.ts'
import './adjustment.css'

interface Props {
  readonly adjustmentId: bigint
  /** A customer brings some of it back. Otherwise everything is picked. */
  readonly isReturn?: boolean
  readonly onClose: () => void
}

interface OpenAdjustment {
  readonly adjustment: Adjustment
  readonly reversals: readonly Adjustment[]
}

/** The sent reversal. The same lines keep the same key, so that a lost response does not take them back twice. */
interface SentReversal {
  readonly text: string
  readonly idempotencyKey: string
}

const NOTHING_SENT: SentReversal = { text: '', idempotencyKey: '' }

/** A sale, delivery, count or correction: its lines, what reversed it, and a form to reverse all or some of it. */
export function AdjustmentDialog({ adjustmentId, isReturn = false, onClose }: Props) {
  const mayChange = useMayChange('stock')
  const [amounts, setAmounts] = useState<ReadonlyMap<bigint, string>>(new Map())
  const { opened, failure, isBusy, reverse } = useAdjustment(adjustmentId, (adjustment) =>
    setAmounts(isReturn ? new Map() : allOf(adjustment)),
  )
  useStock()
  const lines = opened === undefined ? [] : pickedLines(opened.adjustment, amounts)
  return (
    <Dialog title={opened === undefined ? 'Change' : titleOf(opened.adjustment)} onClose={onClose}>
      {(close) => (
        <>
          {opened !== undefined && (
            <>
              <Facts adjustment={opened.adjustment} />
              <Lines
                adjustment={opened.adjustment}
                amounts={mayChange ? amounts : undefined}
                onAmount={(petId, text) => setAmounts(new Map(amounts).set(petId, text))}
              />
              <Reversals reversals={opened.reversals} />
            </>
          )}
          <p className="negative small" role="alert">
            {failure}
          </p>
          <div className="dialog__actions">
            <Button onClick={close}>Close</Button>
            {opened !== undefined && mayChange && isReversible(opened.adjustment) && (
              <ReverseButtons
                adjustment={opened.adjustment}
                lines={lines}
                isReturn={isReturn}
                isBusy={isBusy}
                onReverse={(reason) => void reverse(reason, lines).then((isDone) => isDone && close())}
              />
            )}
          </div>
        </>
      )}
    </Dialog>
  )
}

/** Loads an adjustment with its reversals, and reverses it. */
function useAdjustment(adjustmentId: bigint, onLoaded: (adjustment: Adjustment) => void) {
  const { saving, keyNames } = useSession()
  const [opened, setOpened] = useState<OpenAdjustment>()
  const [failure, setFailure] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const sent = useRef(NOTHING_SENT)

  const load = async () => {
    try {
      const { client, signal } = saving
      const adjustment = await client.adjustments.get(adjustmentId, { signal })
      const reversals = await Promise.all(
        adjustment.reversedBy.map((id) => client.adjustments.get(id, { signal })),
      )
      setOpened({ adjustment, reversals })
      onLoaded(adjustment)
      void keyNames.load([adjustment, ...reversals].map(({ keyId }) => keyId))
    } catch (error) {
      setFailure(failureWords(error, { not_found: 'It is so old that its lines were removed.' }))
    }
  }
  useEffect(() => void load(), [])

  /** Returns whether it was reversed. */
  const reverse = async (reason: ReversalReason, lines: readonly ReversedLine[]): Promise<boolean> => {
    const text = [reason, ...lines.map(({ petId, quantity }) => `${petId}:${quantity}`)].join()
    if (sent.current.text !== text) sent.current = { text, idempotencyKey: crypto.randomUUID() }
    const { idempotencyKey } = sent.current
    setBusy(true)
    setFailure(undefined)
    const outcome = await reverseAdjustment(saving, adjustmentId, { reason, lines }, idempotencyKey)
    setBusy(false)
    if (outcome.type === 'failed') {
      if (!outcome.mayHaveBeenMade) sent.current = NOTHING_SENT
      setFailure(outcome.why)
      return false
    }
    sent.current = NOTHING_SENT
    if (outcome.type === 'already_reversed') {
      setFailure('Nothing was changed: it was taken back meanwhile, as listed here.')
      await load()
      return false
    }
    const what = reason === 'returned' ? 'Returned' : 'Undone'
    showToast({ name: 'reverse', text: `${what}. Stock updated for ${petsWords(lines.length)}.` })
    return true
  }
  return { opened, failure, isBusy, reverse }
}

function titleOf(adjustment: Adjustment): string {
  return whyWords(adjustment) ?? 'Changed'
}

function isReversible({ reverses, lines }: Adjustment): boolean {
  return reverses === undefined && lines.some((line) => reversibleUnits(line) > 0)
}

function allOf({ lines }: Adjustment): ReadonlyMap<bigint, string> {
  return new Map(lines.map((line) => [line.petId, String(reversibleUnits(line))]))
}

function pickedLines({ lines }: Adjustment, amounts: ReadonlyMap<bigint, string>): readonly ReversedLine[] {
  return lines.flatMap((line) => {
    const quantity = readQuantity(amounts.get(line.petId) ?? '') ?? 0
    return quantity > 0 && quantity <= reversibleUnits(line) ? [{ petId: line.petId, quantity }] : []
  })
}

/** When it happened and was recorded, who recorded it, and the note. */
function Facts({ adjustment }: { readonly adjustment: Adjustment }) {
  const { keyNames } = useSession()
  const { keyId, note, occurredAt, recordedAt, reverses } = adjustment
  const [happened, recorded] = [Date.parse(occurredAt), Date.parse(recordedAt)].map(momentWords)
  const who = useReadable(keyNames).get(keyId) ?? keyId
  const state = reversedWords(adjustment)
  return (
    <div>
      <p className="muted">
        {happened}, by {who}
        {happened !== recorded && `, recorded ${recorded}`}
        {state !== undefined && (
          <>
            {' '}
            <span className="badge badge--plain">{state}</span>
          </>
        )}
      </p>
      {note !== undefined && <p>{note}</p>}
      {reverses !== undefined && <p>It takes an earlier change back, so it cannot be undone itself.</p>}
    </div>
  )
}

interface LinesProps {
  readonly adjustment: Adjustment
  /** How many units of each pet to take back, as typed; `undefined` if the key may not. */
  readonly amounts: ReadonlyMap<bigint, string> | undefined
  readonly onAmount: (petId: bigint, text: string) => void
}

function Lines({ adjustment, amounts, onAmount }: LinesProps) {
  const { stock } = useSession()
  const hasAmounts = amounts !== undefined && isReversible(adjustment)
  return (
    <table className="table adjustment-lines">
      <thead>
        <tr>
          <th scope="col">Pet</th>
          {hasAmounts && <th scope="col">Take back</th>}
        </tr>
      </thead>
      <tbody>
        {adjustment.lines.map((line) => {
          const { petId, before, after } = line
          const name = stock.nameOf(petId)
          const words = lineWords(line)
          return (
            <tr key={String(petId)}>
              <td>
                <a className="list-row__name" href={href({ view: 'pet', petId })}>
                  {name}
                </a>
                <br />
                <QuantityChange before={before} after={after} />
                {words !== '' && <div className="muted small">{words}</div>}
              </td>
              {hasAmounts && (
                <td>
                  <LineAmount
                    line={line}
                    name={name}
                    text={amounts.get(petId) ?? ''}
                    onChange={(text) => onAmount(petId, text)}
                  />
                </td>
              )}
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

/** Such as `already counted, 2 taken back`. */
function lineWords({ effect, counted, delta, reversed }: AdjustmentLine): string {
  const units =
    counted === undefined ? `${signedUnits(delta)} stated` : `${counted.toLocaleString('en')} counted`
  const takenBack = counted === undefined ? `${reversed.toLocaleString('en')} taken back` : 'taken back'
  return [
    effect === 'applied' ? undefined : `${units}, ${EFFECT_WORDS[effect]}`,
    reversed > 0 ? takenBack : undefined,
  ]
    .filter((words) => words !== undefined)
    .join(', ')
}

function signedUnits(delta: number): string {
  return `${delta < 0 ? '−' : '+'}${Math.abs(delta).toLocaleString('en')}`
}

interface LineAmountProps {
  readonly line: AdjustmentLine
  readonly name: string
  readonly text: string
  readonly onChange: (text: string) => void
}

/** A count is taken back as a whole. */
function LineAmount({ line, name, text, onChange }: LineAmountProps) {
  const units = reversibleUnits(line)
  const label = `Take back ${name}`
  if (units <= 0) return <span className="muted">–</span>
  if (line.counted !== undefined) {
    return (
      <input
        type="checkbox"
        aria-label={label}
        checked={text === '1'}
        onChange={({ currentTarget }) => onChange(currentTarget.checked ? '1' : '0')}
      />
    )
  }
  const isInvalid = text.trim() !== '' && (readQuantity(text) ?? Number.NaN) > units
  return (
    <span className="adjustment-lines__amount">
      <input
        className="input number"
        inputMode="numeric"
        autoComplete="off"
        aria-label={label}
        aria-invalid={isInvalid}
        placeholder="0"
        value={text}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />{' '}
      <span className={isInvalid ? 'negative' : 'muted'}>of {units.toLocaleString('en')}</span>
    </span>
  )
}

/** What was undone or returned, when and by whom. */
function Reversals({ reversals }: { readonly reversals: readonly Adjustment[] }) {
  const { keyNames } = useSession()
  const names = useReadable(keyNames)
  return (
    <ul>
      {reversals.map((reversal) => (
        <li key={String(reversal.id)}>
          <strong>{reversal.reason === 'returned' ? 'Returned' : 'Undone'}</strong> on{' '}
          {momentWords(Date.parse(reversal.recordedAt))} by {names.get(reversal.keyId) ?? reversal.keyId}:{' '}
          {sizeWords(reversal)}
        </li>
      ))}
    </ul>
  )
}

interface ButtonsProps {
  readonly adjustment: Adjustment
  readonly lines: readonly ReversedLine[]
  readonly isReturn: boolean
  readonly isBusy: boolean
  readonly onReverse: (reason: ReversalReason) => void
}

/** Undo: it never happened. Return: the customer has brought it back. */
function ReverseButtons({ adjustment, lines, isReturn, isBusy, onReverse }: ButtonsProps) {
  const isCount = adjustment.lines.some(({ counted }) => counted !== undefined)
  const pieces = lines.reduce((sum, { quantity }) => sum + quantity, 0)
  const size = isCount ? petsWords(lines.length) : piecesWords(pieces)
  const rest = { isBusy, isDisabled: lines.length === 0 }
  return (
    <>
      {!isReturn && (
        <Button
          tone={adjustment.reason === 'sold' ? 'plain' : 'primary'}
          {...rest}
          onClick={() => onReverse('correction')}
        >
          Undo {size}
        </Button>
      )}
      {adjustment.reason === 'sold' && (
        <Button tone="primary" {...rest} onClick={() => onReverse('returned')}>
          Return {size}
        </Button>
      )}
    </>
  )
}
