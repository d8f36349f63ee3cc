import type { SearchRow } from '@petstore/client'
import { useMemo, useState } from 'preact/compat'
import { categoryName } from '../data/catalog/category-list.ts'
import { type PetListSnapshot, usePetList } from '../data/catalog/pet-list.ts'
import { failureWords } from '../data/failure-words.ts'
import { type Pace, paceOf, usePaceReport } from '../data/movements.ts'
import { Observable, useReadable } from '../data/observable.ts'
import { saveCsv } from '../data/save-csv.ts'
import { freeUnits } from '../data/stock/free-units.ts'
import { momentWords } from '../data/time-words.ts'
import { showProblem } from '../data/toasts.ts'
import { CategoryChoice } from '../pet-form/category-choice.tsx'
import { useMayChange, useSession, useStock } from '../session/session-context.ts'
import { perSession } from '../session/work-frame.tsx'
import { Button } from '../ui/button.tsx'
import { Moment } from '../ui/changes.tsx'
import { useNow } from '../ui/hooks.ts'
import { Empty, ListFrame } from '../ui/list-frame.tsx'
import { href } from '../ui/navigation.ts'
import { petsWords } from '../ui/words.ts'
import { lowStockSource, readLowPets } from './low-stock-source.ts'
import { orderOf, type ReorderLine, reorderCsv, suggestedOrder } from './reorder-list.ts'
import './low-stock.css'

const NO_PACE: Pace = new Map()

/** The amounts that the user has typed, kept until they sign out. */
const editedOrdersOf = perSession(() => new Observable<ReadonlyMap<bigint, string>>(new Map()))

/** Pets that are low by their own threshold or that of their category, with the amounts to reorder. */
export function LowStockView() {
  const session = useSession()
  const { client, feed, stock, categories } = session
  const categoryList = useReadable(categories)
  const mayChange = useMayChange('pets')
  const [categoryId, setCategoryId] = useState<bigint>()
  const source = useMemo(
    () => lowStockSource({ client, events: feed.events }, categoryId),
    [client, feed, categoryId],
  )
  const { list, found } = usePetList(source)
  const now = useNow(15_000)
  const { value: report, failure } = usePaceReport(session)
  const pace = useMemo(() => (report === undefined ? NO_PACE : paceOf(report)), [report])
  const isPaceLoading = report === undefined && failure === undefined
  const { since = '', completeSince = '' } = report ?? {}
  const edited = editedOrdersOf(session)
  const orders = useReadable(edited)
  useStock()

  const lineOf = (row: SearchRow) => {
    // The stock is newer than the list: an order changes it without an event of its pet.
    const live = stock.find(row.petId)
    const quantity = live?.quantity ?? row.quantity
    const reserved = live?.reserved ?? row.reserved
    const free = freeUnits({ quantity, reserved })
    const soldPerDay = pace.get(row.petId) ?? 0
    const text = orders.get(row.petId) ?? String(suggestedOrder(free, row.lowStockAt, soldPerDay))
    const category = categoryName(categoryList, row.categoryId)
    return { row, category, quantity, reserved, free, soldPerDay, text, order: orderOf(text) }
  }
  const lines = found.rows.map(lineOf)
  /** The file has all low pets, also those that the list has not loaded. */
  const save = async () => {
    try {
      const rows = found.next === undefined ? found.rows : await readLowPets(client, categoryId)
      saveCsv('reorder-list.csv', reorderCsv(rows.map(lineOf)))
    } catch (error) {
      showProblem('export', `The file was not saved. ${failureWords(error)}`)
    }
  }
  const edit = (petId: bigint, text: string) => edited.set(new Map(orders).set(petId, text))
  return (
    <section className="view view--list low-stock" aria-label="Low stock">
      <div className="cluster view__head">
        <h1>Low stock</h1>
        <CategoryChoice chosen={categoryId} onChoose={setCategoryId} />
        <Button icon="print" isDisabled={lines.length === 0 || isPaceLoading} onClick={() => print()}>
          Print
        </Button>
        <Button icon="download" isDisabled={lines.length === 0 || isPaceLoading} onClick={() => void save()}>
          Download CSV
        </Button>
      </div>
      <p role="status" className="number">
        {sumWords(found)}
      </p>
      {lines.length > 0 && (
        <p className="muted small">
          Suggested order: what sells in 4 weeks at the pace of the last 4 weeks, plus the level of the
          warning, minus what is free; at least enough to end the warning.
          {completeSince > since && ` The history begins ${momentWords(Date.parse(completeSince))}.`}
        </p>
      )}
      <ListFrame
        label="Low stock"
        list={list}
        empty={
          <Empty title="Nothing is low">
            <p>
              A pet appears here as soon as no more are free than its “Warn me at”, or that of its category.
            </p>
            {mayChange && (
              <a className="button" href={href({ view: 'pets' })}>
                Set “Warn me at” in Pets
              </a>
            )}
          </Empty>
        }
      >
        {lines.map((line) => (
          <LowRow key={String(line.row.petId)} line={line} now={now} onEdit={edit} />
        ))}
      </ListFrame>
    </section>
  )
}

interface LowRowProps {
  readonly line: ReorderLine & {
    readonly row: SearchRow
    readonly quantity: number
    readonly reserved: number
    readonly text: string
  }
  readonly now: number
  readonly onEdit: (petId: bigint, text: string) => void
}

function LowRow({ line, now, onEdit }: LowRowProps) {
  const { row, category, quantity, reserved, free, soldPerDay, text, order } = line
  const { petId, name, barcode, lowStockAt, lowSince } = row
  const soldWeekly = Math.round(soldPerDay * 7)
  return (
    <li className="list-row low-row" aria-label={name}>
      <span className="low-row__name">
        <a className="list-row__name" href={href({ view: 'pet', petId })}>
          {name}
        </a>
        <span className="muted small">{category}</span>
        {barcode !== undefined && <span className="muted small low-row__barcode">{barcode}</span>}
      </span>
      <span className="low-row__free number">
        <span>
          <strong className={free <= 0 ? 'negative' : undefined}>
            {Math.abs(free).toLocaleString('en')}
          </strong>{' '}
          {free < 0 ? 'too few' : 'free'}
          {reserved > 0 && `, ${reserved.toLocaleString('en')} reserved of ${quantity.toLocaleString('en')}`}
        </span>
        <span className="muted small">
          {lowStockAt !== undefined && `Warn me at ${lowStockAt.toLocaleString('en')}`}
          {soldPerDay > 0 && ` · ${soldWeekly < 1 ? 'under 1' : soldWeekly.toLocaleString('en')} sold a week`}
        </span>
      </span>
      <span className="low-row__since">
        {lowSince !== undefined && <Moment at={Date.parse(lowSince)} now={now} />}
        {lowSince === undefined && <span className="muted">Long ago</span>}
      </span>
      <label className="low-row__order">
        <span className="muted small">Order</span>
        <span className="visually-hidden"> units of {name}</span>
        <input
          className="input number"
          inputMode="numeric"
          autoComplete="off"
          value={text}
          aria-invalid={order === undefined}
          onChange={({ currentTarget }) => onEdit(petId, currentTarget.value)}
        />
      </label>
    </li>
  )
}

function sumWords({ rows, next, phase }: PetListSnapshot): string {
  if (phase !== 'ready') return phase === 'loading' ? 'Loading' : ''
  if (rows.length === 0) return 'Nothing is low.'
  const empty = rows.filter(({ available }) => available <= 0).length
  const none = empty === 0 ? '' : `, ${empty.toLocaleString('en')} of them with nothing free`
  if (next !== undefined) return `The ${rows.length.toLocaleString('en')} with the fewest free${none}.`
  return `${petsWords(rows.length)} ${rows.length === 1 ? 'is' : 'are'} low${none}.`
}
